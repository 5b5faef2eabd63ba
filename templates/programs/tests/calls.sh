# SPDX-License-Identifier: Apache-2.0
# What the tools answer; run.sh serves them and knows how to expect.
expect '{"output":"Hello, Ada!"}' greet name=Ada
expect '{"output":"Bye, Ada!"}' greet name=Ada greeting=Bye
expect '{"output":"6"}' count_words text='to be or not to be'
expect_error invalid_arguments greet
