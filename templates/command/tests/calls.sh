# SPDX-License-Identifier: Apache-2.0
# What the tools answer; run.sh serves them and knows how to expect.
expect '{"output":"Hello, Ada!"}' greet name=Ada
# Whatever an argument holds, it is never part of a shell line.
expect '{"output":"Hello, $(id); %s!"}' greet name='$(id); %s'
expect '{"words":6}' count_words text='to be or not to be'
expect '{"output":"three"}' longest_line text='one
three
two'
expect '{"output":"b\na"}' reverse_lines text='a
b'
expect_error invalid_arguments greet name=
