/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html_text.h"
#include "util/cleanup.h"

/* How often the time may be asked for until it is over. */
static int looks_left = -1;
static int n_looks;

static bool is_over(void *data)
{
	(void)data;
	n_looks++;
	return looks_left >= 0 && looks_left-- == 0;
}

static bool write_html(const char *html, size_t size, struct text *out, bool *is_cut)
{
	const struct html_page page = {
		.bytes = html, .size = size, .url = "http://h/d/p", .is_late = is_over};

	return html_text_write(&page, out, is_cut);
}

static void expect(const char *html, const char *markdown)
{
	struct text out = {0};
	bool is_cut;

	cr_expect_eq(write_html(html, strlen(html), &out, &is_cut), *markdown != '\0');
	cr_expect_not(is_cut);
	cr_expect_str_eq(text_string(&out), markdown);
	text_free(&out);
}

Test(web_html, writes_paragraphs_and_headings)
{
	expect("<p> one \n two<p>three", "one two\n\nthree");
	expect("<h1>A <b>b</b></h1><p>c<h3><div>d</div></h3>e", "# A b\n\nc\n\n### d\n\ne");
	expect("a<br>b<br><br>c<hr>d", "a\nb\n\nc\n\n---\n\nd");
	expect("<div>a</div><div>b</div>", "a\nb");
	expect("<h2> </h2><p>x", "x");
	expect("&eacute;&amp;&lt;&#128512;", "é&<😀");
}

Test(web_html, writes_the_title_unless_there_is_a_heading)
{
	expect("<title> The\n title </title><p>x", "# The title\n\nx");
	expect("<title>T</title><h1>H</h1>", "# H");
	expect("<title>T</title>", "");
}

Test(web_html, writes_lists)
{
	expect("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne");
	expect("<ol><li>a<li>b</ol>", "1. a\n2. b");
	expect("<ol start=9><li>a<p>b<li>c</ol>", "9. a\n\n   b\n\n10. c");
	expect("<ol start=-5><li>a</ol>", "1. a");
	expect("<ol start=x><li hidden>h<li>a</ol>", "1. a");
	expect("<ul><li></li><li>a</ul>", "- a");
	expect("<li>a</li>", "- a");
	expect("<dl><dt>a</dt><dd>b</dd></dl>", "a\n  b");
}

Test(web_html, writes_quotes_inside_of_quotes)
{
	expect("a<blockquote>b<p>c<blockquote>d</blockquote></blockquote>e",
		"a\n\n> b\n>\n> c\n>\n> > d\n\ne");
	expect("<blockquote><ul><li>a<li>b</ul></blockquote>", "> - a\n> - b");
}

Test(web_html, writes_code_with_its_spaces)
{
	expect("<pre>\n a\n\n  b  \n</pre>c", "```\n a\n\n  b\n```\n\nc");
	expect("<pre>```</pre>", "````\n```\n````");
	expect("a <code> b  c </code>d", "a `b c` d");
	expect("<code>a`b</code>", "``a`b``");
	expect("<ul><li><pre>a\nb</pre></ul>", "- ```\n  a\n  b\n  ```");
	expect("<pre> </pre>x", "x");
}

Test(web_html, writes_links_with_their_whole_address)
{
	expect("<a href=q?a=1>b</a>", "[b](http://h/d/q?a=1)");
	expect("a<a href=//o/x> b </a>c", "a [b](http://o/x) c");
	expect("<base href=/e/><a href=f>g</a>", "[g](http://h/e/f)");
	expect("<a href='http://a/b (1)<>'>c</a>", "[c](http://a/b%20%281%29%3C%3E)");
	expect("<a href=#top>a</a> <a href='javascript:x'>b</a> <a>c</a> <a href=data:,x>d</a>",
		"a b c d");
	expect("<a href=mailto:a@b>c</a>", "[c](mailto:a@b)");
	expect("<a href=x> </a>y", "y");
	expect("<a href=x><h2>a</h2><p>b</p></a>", "[a b](http://h/d/x)");
	expect("<a href=x><code>a</code></a><code><a href=y>b</a></code>", "[a](http://h/d/x)`b`");
}

Test(web_html, writes_images_by_their_words)
{
	expect("<img src=i.png alt='A  b'>", "![A b](http://h/d/i.png)");
	expect("<img src=i.png><img alt=' ' src=j>x", "x");
	expect("<img src=data:image/png;base64,x alt=a>", "a");
	expect("<a href=x><img src=i alt=a></a>", "[a](http://h/d/x)");
}

Test(web_html, writes_tables)
{
	expect("<table><caption>C</caption><tr><th>a<th>b|c<tr><td>d<br>e</table>f",
		"C\n\n| a | b\\|c |\n| --- | --- |\n| d e | |\n\nf");
	expect("<table><tbody><tr><td>a<td hidden>h<td>b</table>",
		"| a | b | |\n| --- | --- | --- |");
	expect("<table><tr><td><p>a<p>b</table>", "a\n\nb");
	expect("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>",
		"| a | b |\n| --- | --- |\n\nc");
}

Test(web_html, finds_the_main_part)
{
	expect("<p>a</p><main><p>b</main><p>c", "b");
	expect("<p>a</p><div role=main>b</div>", "b");
	expect("<p>a</p><article>b</article>", "b");
	expect("<article>a</article><article>b</article>", "a\nb");
	expect("<div>menu</div><div><div>The text of it all, which is much longer</div></div>",
		"The text of it all, which is much longer");
	expect("<div><a href=a>a long text of a link that has no weight</a></div><div>b</div>",
		"b");
	expect("<title>T</title><main>a</main>", "# T\n\na");
}

Test(web_html, leaves_out_what_a_reader_does_not_see)
{
	expect("<script>a</script><style>b</style><noscript>c</noscript><template>d</"
	       "template>e<!--f-->",
		"e");
	expect("<p hidden>a<p aria-hidden=TRUE>b<p style='color:red; DISPLAY : none'>c"
	       "<p style=visibility:hidden>d<p style=display:block>e",
		"e");
	expect("<nav>a</nav><header>b</header><aside>c</aside><footer>d</footer><div "
	       "role=banner>e</div>"
	       "<p>f",
		"f");
	expect("<main><header><h1>a</h1></header>b<footer>c</footer></main>", "# a\n\nb");
	expect("<select><option>a</select><button>b</button><textarea>c</textarea>d", "d");
	expect("a\xE2\x80\xAE"
	       "b\xF3\xA0\x81\x81\xC2\xAD\x1B[0m\xE2\x80\x8B"
	       "c\xC2\xA0"
	       "d",
		"ab[0mc d");
	/* Navigation is better than nothing. */
	expect("<nav>a</nav>", "a");
	expect("<p hidden>a", "");
}

static char *repeated(const char *part, size_t n)
{
	size_t size = strlen(part);
	char *text = calloc(n + 1, size);

	for (size_t i = 0; i < n; i++)
		memcpy(text + i * size, part, size);
	return text;
}

Test(web_html, bounds_depth_and_elements)
{
	static const char *const parts[] = {
		"<b>", "<ul><li>", "<blockquote>", "<table><tr><td>", "<a href=x><i>", "<pre>"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		cleanup_free char *html = repeated(parts[i], 3000);
		struct text out = {0};
		struct text page = {0};
		bool is_cut;

		text_put(&page, html);
		text_put(&page, "end");
		cr_expect(write_html(page.data, page.size, &out, &is_cut), "%s", parts[i]);
		cr_expect_not(is_cut);
		cr_expect(strstr(text_string(&out), "end"), "%s", parts[i]);
		cr_expect_lt(out.size, 2000, "%s", parts[i]);
		text_free(&out);
		text_free(&page);
	}
}

Test(web_html, cuts_where_there_are_too_many_elements_or_no_time)
{
	cleanup_free char *html = repeated("<b>a</b>", HTML_ELEMENTS_MAX + 10);
	struct text out = {0};
	bool is_cut;

	cr_expect(write_html(html, strlen(html), &out, &is_cut));
	cr_expect(is_cut && out.size > HTML_ELEMENTS_MAX - 10 && out.size < HTML_ELEMENTS_MAX + 10);
	out.size = 0;
	looks_left = 3;
	cr_expect(write_html(html, strlen(html), &out, &is_cut));
	cr_expect(is_cut && out.size > 0 && out.size < 10000);
	text_free(&out);
}

/* Write a page with 2,560 of @link. Return how often the time was asked for. */
static int count_looks(const char *link, bool *is_cut)
{
	char *links = repeated(link, 2560);
	struct text html = {0};
	struct text out = {0};

	text_printf(&html, "<p>begin %s", links);
	n_looks = 0;
	cr_expect(write_html(text_string(&html), html.size, &out, is_cut));
	text_free(&html);
	text_free(&out);
	free(links);
	return n_looks;
}

/* An address may take long: its base and its path may have hundreds of `..`. */
Test(web_html, asks_for_the_time_at_links_with_words)
{
	bool is_cut;
	int n_without = count_looks("<a href=x> </a>", &is_cut);
	int n_with = count_looks("<a href=x>w</a>", &is_cut);

	cr_expect_not(is_cut);
	cr_expect_eq(n_with - n_without, 10);
	looks_left = n_with - 1;
	count_looks("<a href=x>w</a>", &is_cut);
	cr_expect(is_cut);
}

Test(web_html, has_a_base_without_dots)
{
	expect("<base href='http://h/a/../b/..'><a href=f>g</a>", "[g](http://h/f)");
	expect("<base href=' '><a href=f>g</a>", "[g](http://h/d/f)");
}
