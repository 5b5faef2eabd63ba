# SPDX-License-Identifier: Apache-2.0
# What the tools answer; run.sh serves them and knows how to expect.
expect '{"words":6}' count_words text='to be or not to be'
expect '{"words":0}' count_words text=' '
expect '{"text":"nana"}' repeat text=na
expect '{"text":"batbatbat"}' repeat text=bat times=3
expect_error invalid_arguments repeat text=bat times=-1
expect_error tool_failed repeat text=bat times=30000
