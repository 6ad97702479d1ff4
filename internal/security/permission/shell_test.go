package permission

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"mvdan.cc/sh/v3/syntax"
)

func TestSegments(t *testing.T) {
	t.Parallel()
	seg := func(text string, doubts ...string) Segment { return Segment{Text: text, Doubts: doubts} }
	in := func(dir string, s Segment) Segment { s.Dir = dir; return s }
	to := func(s Segment, files ...string) Segment { s.Writes = files; return s }
	const variable, subst, procSubst = "a variable", "a command substitution ($(…))", "a process substitution (<(…))"
	for _, tt := range []struct {
		command string
		want    []Segment
	}{
		{"ls -l", []Segment{seg("ls -l")}},
		{"a | b |& c && d || e; f & g\nh", []Segment{seg("a"), seg("b"), seg("c"), seg("d"), seg("e"), seg("f"), seg("g"), seg("h")}},
		{"(a; b) && { c; } && ! d; time e", []Segment{seg("a"), seg("b"), seg("c"), seg("d"), seg("e")}},
		{"if a; then b; elif c; then d; else e; fi", []Segment{seg("a"), seg("b"), seg("c"), seg("d"), seg("e")}},
		{"while a; do b; done; until c; do d; done", []Segment{seg("a"), seg("b"), seg("c"), seg("d")}},
		{"for x in $(a); do b; done", []Segment{seg("x in $(a)", "a loop that sets a variable"), seg("a"), seg("b")}},
		{"for ((i=0;i<1;i++)); do b; done", []Segment{seg("((i=0;i<1;i++))", "a loop that sets a variable"), seg("b")}},
		{"select x in a; do b; done", []Segment{seg("x in a", "a loop that sets a variable"), seg("b")}},
		{"case x in a|*.b) c;; esac", []Segment{seg("c")}},
		{"case $x in $(a)) c;; esac", []Segment{seg("$x", variable), seg("$(a)", subst), seg("a"), seg("c")}},
		{"f() { a; }; function g { b; }", []Segment{seg("f() …", "a function definition"), seg("a"), seg("g() …", "a function definition"), seg("b")}},
		{"coproc a", []Segment{seg("coproc a", "a coprocess"), seg("a")}},
		{`a "$(b $(c))" <(d)`, []Segment{seg(`a "$(b $(c))" <(d)`, subst, procSubst), seg("b $(c)", subst), seg("c"), seg("d")}},
		{"a ${x:-$(b)} $((1+$(c)))", []Segment{seg("a ${x:-$(b)} $((1+$(c)))", "an expansion (${…})", "arithmetic"), seg("b"), seg("c")}},
		{"x=1 y=$(b) a", []Segment{seg("x=1 y=$(b) a", "a variable is set (x)", "a variable is set (y)"), seg("b")}},
		{"x=1", []Segment{seg("x=1", "a variable is set (x)")}},
		{"export x=$(b)", []Segment{seg("export x=$(b)", "export, which changes what later commands do"), seg("b")}},
		{"[[ $(a) ]]; ((x)); let y=1", []Segment{seg("[[ $(a) ]]", "a test that may evaluate text"), seg("a"), seg("((x))", "arithmetic"), seg("let y=1", "arithmetic")}},
		{"[ -f x ]", []Segment{seg("[ -f x ]")}},
		{"a *.go b[1] {c,d} {e} {}", []Segment{seg("a *.go b[1] {c,d} {e} {}", "a file name pattern", "brace expansion")}},
		{`a $'x' $'\n' $"y"`, []Segment{seg(`a $'x' $'\n' $"y"`, "text with escapes ($'…')", `translated text ($"…")`)}},
		{"eval a", []Segment{seg("eval a", "eval, which changes what later commands do, or what this one runs")}},
		{"a >x 2>>y &>z <w >|v <>u", []Segment{to(seg("a >x 2>>y &>z <w >|v <>u", "output to x", "output to y", "output to z", "input from w", "output to v", "output to u"), "x", "y", "z", "v", "u")}},
		{"a >/dev/null 2>&1 <&- 3>&2- </dev/null", []Segment{seg("a >/dev/null 2>&1 <&- 3>&2- </dev/null")}},
		{"a >&x", []Segment{to(seg("a >&x", "output to x"), "x")}},
		{"a >$x", []Segment{to(seg("a >$x", "output to $x"), "$x")}},
		{"{ a; } >x", []Segment{seg("a"), to(seg(">x", "output to x"), "x")}},
		{"cat <<E\n$(a)\nE", []Segment{seg("cat <<E", "a here-document"), seg("a")}},
		{"cat <<'E'\n$(a)\nE", []Segment{seg("cat <<'E'", "a here-document")}},
		{"cat <<< a", []Segment{seg("cat <<< a", "a here-string")}},
		{"a # b\nc", []Segment{seg("a"), seg("c")}},
		{"# a", nil},
		{"in x", []Segment{seg("in x", "a reserved word of the shell (in)")}},
		{"a\u200b", []Segment{seg("a\u200b", `an invisible character: \u{200b}`)}},
		// Where each runs, as far as the text tells.
		{"cd a && b; (cd ../c; d); e", []Segment{seg("cd a"), in("a", seg("b")), in("a", seg("cd ../c")), in("c", seg("d")), in("a", seg("e"))}},
		{"cd a | b; c", []Segment{seg("cd a"), seg("b"), seg("c")}},
		{"cd a & b", []Segment{seg("cd a"), seg("b")}},
		{"cd; a", []Segment{seg("cd"), in("~", seg("a"))}},
		{"cd -P /x/../y; a; cd z; b", []Segment{seg("cd -P /x/../y"), in("/y", seg("a")), in("/y", seg("cd z")), in("/y/z", seg("b"))}},
		{"cd $x; a; cd b; c; cd /d; e", []Segment{seg("cd $x", variable), in("?", seg("a")), in("?", seg("cd b")), in("?", seg("c")), in("?", seg("cd /d")), in("/d", seg("e"))}},
		{"cd - && a", []Segment{seg("cd -"), in("?", seg("a"))}},
		{"pushd a && b", []Segment{seg("pushd a"), in("?", seg("b"))}},
		{"cd .claude && a > x", []Segment{seg("cd .claude"), in(".claude", to(seg("a > x", "output to x"), ".claude/x"))}},
		{"cd a && cd .. && b", []Segment{seg("cd a"), in("a", seg("cd ..")), seg("b")}},
	} {
		got, err := parse(tt.command)
		if diff := cmp.Diff(tt.want, got.segments, cmpopts.IgnoreUnexported(Segment{}), cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", tt.command, err, diff)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command string
		want    []string // unknown words as written, in < >
	}{
		{`a\ b "c d" 'e'"f"g`, []string{"a b", "c d", "efg"}},
		{`"a\$b\"\\\c" '\d' \e`, []string{`a$b"\\c`, `\d`, "e"}},
		{"a\\\nb \"c\\\nd\"", []string{"ab", "cd"}},
		{`\r\m -rf`, []string{"rm", "-rf"}},
		{`"" ''`, []string{"", ""}},
		{`~/a "~/b" ~bob`, []string{"~/a", "~/b", "~bob"}},
		{`'*' \* "*" *`, []string{"*", "*", "*", "<*>"}},
		{`a$b "${c}d" e$(f)`, []string{"<a$b>", `<"${c}d">`, "<e$(f)>"}},
		{`{a,b} \{a,b\} '{a,b}' {a,'b'}`, []string{"<{a,b}>", "{a,b}", "{a,b}", "<{a,'b'}>"}},
		{`!(a) @(b|c)`, []string{"<!(a)>", "<@(b|c)>"}},
		{`a"b"'c'\d$'e'`, []string{"abcde"}},
		{"\"'\" '\"' \\' \\\" \"\\`\" \"\\!\"", []string{"'", `"`, "'", `"`, "`", `\!`}},
		{"'a\nb' \"c\nd\"", []string{"a\nb", "c\nd"}},
		{`x a=b --c=d -e,f a:b a%b a@b a+b {a} {} a{b } ] [ a] ! a! a#b`, []string{"x", "a=b", "--c=d", "-e,f", "a:b", "a%b", "a@b", "a+b", "{a}", "{}", "a{b", "}", "]", "[", "a]", "!", "a!", "a#b"}},
		{`\a\b\\c \# \~ a\;b \&\|`, []string{`ab\c`, "#", "~", "a;b", "&|"}},
		{"a\\\n b \\\n\\\nc", []string{"a", "b", "c"}},
	} {
		s, err := parse(tt.command)
		if err != nil {
			t.Errorf("%s: %v", tt.command, err)
			continue
		}
		var got []string
		for _, w := range s.segments[0].words {
			if w.known {
				got = append(got, w.text)
			} else {
				got = append(got, "<"+w.raw+">")
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.command, diff)
		}
		if !s.segments[0].Literal() {
			continue
		}
		// Bash must see the same words.
		cmd := exec.Command("bash", "-c", `printf '%s\0' `+tt.command)
		cmd.Env = []string{"HOME=~"}
		out, err := cmd.Output()
		if diff := cmp.Diff(strings.Join(tt.want, "\x00")+"\x00", string(out)); diff != "" || err != nil {
			t.Errorf("bash on %s: %v %s", tt.command, err, diff)
		}
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"", " \n", "ls &&", "ls |", "(ls", "ls)", "`ls", `"ls`, "'ls", "if ls", "ls <<E", "l\x00s", "ls\r", "ls \\\r\nrm", "ls \xff",
		"fi", "ls ;; rm", "a=(1 2) ls", "ls > ", "${x", "$((", "echo ${(e)x}", "=(ls)", "&& ls",
		strings.Repeat("a $(", maxNesting+1) + "a" + strings.Repeat(")", maxNesting+1), strings.Repeat("a ", maxCommand/2+1),
	} {
		if s, err := parse(command); err == nil {
			t.Errorf("%.40q was read: %+v", command, s)
		}
	}
}

// What the walker does not know of is not passed over: a command in it would
// run unseen.
func TestMissedCommand(t *testing.T) {
	t.Parallel()
	const text = "@test 'a' { rm x; }\n"
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBats)).Parse(strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := collect(file, text); err == nil || !strings.Contains(err.Error(), "not analyzed") {
		t.Errorf("%+v, %v", s, err)
	}
}
