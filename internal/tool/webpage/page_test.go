package webpage

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func address(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse("https://a.test/docs/page")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, source, markdown, text string }{
		{"nothing", "", "", ""},
		{"no HTML", "just text", "just text", "just text"},
		{"title", "<head><title> One\n &amp; two </title><meta x></head><p>Text", "Title: One & two\n\nText", "Title: One & two\n\nText"},
		{"title only", "<title>x</title>", "Title: x", "Title: x"},
		{"the first title counts", "<title>x</title><svg><title>y</title></svg>z", "Title: x\n\nz", "Title: x\n\nz"},
		{"headings", "<h1>A</h1>x<h3>B <em>c</em></h3>y", "# A\n\nx\n\n### B *c*\n\ny", "A\nx\nB c\ny"},
		{"paragraphs without end", "<p>a<p>b<div>c<p>d</div>e", "a\n\nb\n\nc\n\nd\n\ne", "a\nb\nc\nd\ne"},
		{"emphasis", "<b>a</b> <i>b</i> <strong><em>c</em></strong>", "**a** *b* ***c***", "a b c"},
		{"breaks", "a<br>b<hr>c", "a  \nb\n\n* * *\n\nc", "a\nb\nc"},
		{"links", `<a href="/x?a=1&amp;b=2">a</a> <a href="y z">b</a> <a href="//b.test/(c)">c</a>`,
			"[a](https://a.test/x?a=1&b=2) [b](https://a.test/docs/y%20z) [c](https://b.test/%28c%29)", "a b c"},
		{"base", `<base href="https://b.test/d/"><a href=x>x</a>`, "[x](https://b.test/d/x)", "x"},
		{"links that lead nowhere", `<a href="#x">a</a> <a href="javascript:x()">b</a> <a>c</a> <a href="data:text/html,x">d</a> <a href="x"> </a>`, "a b c d", "a b c d"},
		{"a link within a link", `<a href=x>a<a href=y>b</a>c`, "[a](https://a.test/docs/x)[b](https://a.test/docs/y)c", "abc"},
		{"images", `<img src=a.png alt="A  picture"><img src=b.png><img alt=x><img src="data:x" alt=y>`, "![A picture](https://a.test/docs/a.png)", "A picture"},
		{"lists", "<ul><li>a<li>b<ol start=3><li>c<li>d</ol><li>e</ul>", "- a\n- b\n  \n  3. c\n  4. d\n- e", "a\nb\nc\nd\ne"},
		{"quote", "<blockquote>a<p>b</blockquote>c", "> a\n> \n> b\n\nc", "a\nb\nc"},
		{"code", "<p>Use <code>a &lt; b</code>.<pre><code class='x language-go'>if a {\n\tb()\n}\n</code></pre>",
			"Use `a < b`.\n\n```go\nif a {\n\tb()\n}\n```", "Use a < b.\nif a {\n\tb()\n}"},
		{"code with marks in it", "<pre>&lt;p&gt; ``` &amp;amp;</pre>", "````\n<p> ``` &amp;\n````", "<p> ``` &amp;"},
		{"table", "<table><tr><th>A<th>B<tr><td>1<td>2<tr><td>3</table>", "| A | B |\n|---|---|\n| 1 | 2 |\n| 3 |  |", "A\tB\n1\t2\n3"},
		{"table without head", "<table><tr><td>1<td>2<tr><td>3<td>4</table>", "| 1 | 2 |\n|---|---|\n| 3 | 4 |", "1\t2\n3\t4"},
		{"a table in a table", "<table><tr><td>a<table><tr><td>b</table><td>c</table>", "a\n\n| b |\n|---|\n\nc", "a\nb\n\tc"},
		{"spans of cells", `<table><tr><td colspan=999999999 rowspan=999999999>a<td>b</table>`, "| a | b |\n|---|---|", "a\tb"},
		{"scripts", "a<script>if (a<b) '</p>'</script><style>p{}</style><noscript>n</noscript><template><p>t</template><svg><text>s</text></svg>b<iframe src=x>i</iframe>", "ab", "ab"},
		{"a head without end", "<head><meta charset=x><style>x</style><body>a", "a", "a"},
		{"fields", "<form>Name <input value=x><textarea>y</textarea><select><option>z</select><button>w</button>!</form>", "Name !", "Name !"},
		{"comments", "a<!-- <b>no</b> -->b<![CDATA[x]]>", "ab", "ab"},
		{"hidden", `a<p hidden>1<p>b<div style="color:red; DISPLAY : none">2<div>3</div></div>c<span aria-hidden="true">4</span>d<span style="font-size:0">5</span><i style="opacity:0;x">6</i><b style="visibility:hidden">7</b>e<img hidden src=x alt=8>`,
			"a\n\nb\n\ncde", "a\nb\ncde"},
		{"not hidden", `<p style="opacity:0.5;font-size:0.9em">a</p>`, "a", "a"},
		{"entities", "<p>&lt;T&gt; &copy; &#x20AC; &nbsp;&unknown; a_b_c *d* [e]", "<T> © € \u00a0&unknown; a_b_c *d* [e]", "<T> © € &unknown; a_b_c *d* [e]"},
		{"crossed tags", "<b>a<p>b</b>c</p></div></td>d", "**a**\n\n**b**\n\ncd", "a\nb\ncd"},
		{"an end reaches out of no cell", "<table><tr><td>a</b></p></div>b<td>c</table></table>d", "| ab | c |\n|---|---|\n\nd", "ab\tc\nd"},
		{"unknown elements", "<x-card>a <blink>b</blink></x-card> <abbr title=x>c</abbr>", "a b c", "a b c"},
		{"definitions", "<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\n\nb\n\nc\n\nd", "a\nb\nc\nd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Markdown(t.Context(), test.source, address(t))
			if diff := cmp.Diff(test.markdown, got); diff != "" || err != nil {
				t.Errorf("Markdown: %v %s", err, diff)
			}
			got, err = Text(t.Context(), test.source, address(t))
			if diff := cmp.Diff(test.text, got); diff != "" || err != nil {
				t.Errorf("text: %v %s", err, diff)
			}
		})
	}
}

func TestLongThings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 2000)
	got, err := Markdown(t.Context(), "<title>"+long+"</title><a href='/"+long+"'>a</a>", address(t))
	if want := "Title: " + strings.Repeat("ä", maxTitle/2) + "\n\na"; got != want || err != nil {
		t.Errorf("%d bytes: %.400q, %v", len(got), got, err)
	}
}
