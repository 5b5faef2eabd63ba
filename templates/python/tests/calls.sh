# SPDX-License-Identifier: Apache-2.0
# What the tools answer; run.sh serves them and knows how to expect.
expect '{"text":"Hello, Ada!"}' greet name=Ada
expect '{"words":6}' count_words text='to be or not to be'
expect '{"words":0}' count_words text=' '
expect_error invalid_arguments greet name=
