package mutate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGolden compares what is found in the samples of testdata with their golden files.
// In those, * marks lines of code and ! lines that a crash can stand before.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		t.Run(filepath.Base(s.Path), func(t *testing.T) {
			t.Parallel()
			golden := s.Path + ".golden"
			have := describe(s)
			if *update {
				if err := os.WriteFile(golden, []byte(have), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), have); diff != "" {
				t.Errorf("-want +have:\n%s", diff)
			}
		})
	}
}

// samples reads the files of testdata.
func samples(t testing.TB) []*Source {
	t.Helper()
	paths, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	var out []*Source
	for _, path := range paths {
		if strings.HasSuffix(path, ".golden") || path == "testdata/fuzz" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := Parse(path, text)
		if !ok {
			t.Fatalf("%s is not read", path)
		}
		out = append(out, s)
	}
	if len(out) < 3 {
		t.Fatalf("only %d samples", len(out))
	}
	return out
}

// describe prints a source with its mutants.
func describe(s *Source) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d lines\n", s.Language(), s.Lines())
	mutants := s.Mutants(allLines(s), 99)
	for _, line := range allLines(s) {
		mark := []byte("  ")
		if s.IsCode(line) {
			mark[0] = '*'
		}
		if _, ok := s.Crash(line); ok {
			mark[1] = '!'
		}
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%s %s", mark, s.lineText(line)), " \t"))
		for ; len(mutants) > 0 && mutants[0].Line == line; mutants = mutants[1:] {
			fmt.Fprintf(&b, "        %-22s | %s\n", mutants[0].Operator, strings.TrimSpace(mutants[0].After))
		}
	}
	for _, m := range s.Bodies(allLines(s)) {
		fmt.Fprintf(&b, "body, line %d: %s\n", m.Line, strings.TrimSpace(m.After))
	}
	for _, l := range s.Expectations() {
		fmt.Fprintf(&b, "expectation, line %d: %s %s\n", l.Line, l.Kind, l.Text)
	}
	for _, r := range s.InlineTests() {
		fmt.Fprintf(&b, "inline test: lines %d to %d\n", r[0], r[1])
	}
	return b.String()
}

// TestMutantsChangeOnePlace checks the properties of all mutants of the samples.
func TestMutantsChangeOnePlace(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		for i, m := range s.Mutants(allLines(s), 99) {
			if bytes.Equal(m.Text, s.Text) || m.Before == m.After || m.Path != s.Path {
				t.Errorf("%s:%d %s changes nothing", s.Path, m.Line, m.Operator)
			}
			if want := strings.Replace(s.text[s.lines[m.Line-1]:], m.Before, m.After, 1); s.text[:s.lines[m.Line-1]]+want != string(m.Text) {
				t.Errorf("%s:%d %s changes more than its line", s.Path, m.Line, m.Operator)
			}
			if bytes.Count(m.Text, []byte("\n")) != bytes.Count(s.Text, []byte("\n")) {
				t.Errorf("%s:%d %s adds or removes a line", s.Path, m.Line, m.Operator)
			}
			if i%8 != 0 { // a sample
				continue
			}
			changed, ok := Parse(m.Path, m.Text)
			if !ok || changed.Lines() != s.Lines() {
				t.Errorf("%s:%d %s changes the number of lines", s.Path, m.Line, m.Operator)
			}
		}
		few := map[int]int{}
		for _, m := range s.Mutants(allLines(s), 2) {
			few[m.Line]++
		}
		for line, n := range few {
			if n > 2 {
				t.Errorf("%s:%d has %d mutants, want 2 at most", s.Path, line, n)
			}
		}
	}
}

// TestLinesKeepTheirEnds checks that files with other line breaks are changed alike.
func TestLinesKeepTheirEnds(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		crlf, ok := Parse(s.Path, bytes.ReplaceAll(s.Text, []byte("\n"), []byte("\r\n")))
		if !ok {
			t.Fatalf("%s is not read with CRLF", s.Path)
		}
		if diff := cmp.Diff(describe(s), strings.ReplaceAll(describe(crlf), "\r", "")); diff != "" {
			t.Errorf("%s with CRLF: -want +have:\n%s", s.Path, diff)
		}
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, text, want string }{
		{"a.py", `x = 7`, `x = 8`},
		{"a.py", `x = 0.5`, `x = 1.5`},
		{"a.py", `x = 1_000`, `x = 1001`},
		{"a.py", `x = 0xff`, `x = 0xfe`},
		{"a.py", `x = 0x0f`, `x = 0x10`},
		{"a.py", `x = "a"`, `x = "a_changed"`},
		{"a.py", `x = ""`, `x = "changed"`},
		{"a.py", `x = b'a'`, `x = b'a_changed'`},
		{"a.py", `x = """a"""`, `x = """a_changed"""`},
		{"a.py", `x = True`, `x = False`},
		{"a.py", `x = f"{y}"`, `x = f"changed_{y}"`},
		{"a.py", `x = None`, ``},
		{"a.js", "x = `a`", "x = `a_changed`"},
		{"a.js", `x = 10n`, `x = 11n`},
		{"a.js", `x = 1e3`, `x = 2e3`},
		{"a.go", "package a\nvar x = 'a'", "package a\nvar x = 'b'"},
		{"a.go", "package a\nvar x = '\\n'", "package a\nvar x = 'x'"},
		{"a.go", "package a\nvar x = true", "package a\nvar x = false"},
		{"a.rs", `let x = 10u64;`, `let x = 11u64;`},
		{"a.rs", `let x = r#"a"#;`, `let x = r#"a_changed"#;`},
		{"a.c", `unsigned x = 255;`, `unsigned x = 254;`},
	} {
		s, ok := Parse(test.path, []byte(test.text))
		if !ok {
			t.Errorf("%s is not read", test.text)
			continue
		}
		literals := s.Literals()
		if len(literals) == 0 {
			t.Errorf("%s: no literal", test.text)
			continue
		}
		if have := string(s.Replace(literals[0])); have != test.want {
			t.Errorf("%s is replaced by %s, want %s", test.text, have, test.want)
		}
	}
}

func TestParseRejects(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"README.md": "text", "a.bin": "\x00", "a.go": "package a\x00", "a.py": "x = '\xff'", "noextension": "text", "page.php": "<p><?php echo 1 ?></p>",
		"large.go": "package a\n" + strings.Repeat("\n", maxSource),
	} {
		if _, ok := Parse(name, []byte(text)); ok {
			t.Errorf("%s is read", name)
		}
	}
	for name, want := range map[string]string{"run": "Python", "bin/run.d": "Python", "Makefile": "Makefile", "a.tsx": "TypeScript"} {
		if s, ok := Parse(name, []byte("#!/usr/bin/env -S python3 -u\n")); name != "bin/run.d" && (!ok || s.Language() != want) {
			t.Errorf("%s is not %s", name, want)
		}
	}
}

func TestBreakAndComment(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, text, broken, commented string }{
		{"a.go", "package a", "package a\n)\n", "package a\n// checked\n"},
		{"a.py", "x = 1\n", "x = 1\n)\n", "x = 1\n# checked\n"},
		{"a.py", "x = 1\r\n", "x = 1\r\n)\r\n", "x = 1\r\n# checked\r\n"},
		{"a.py", "# x\n", "# x\n)\n", "# x\n# checked\n"},
		{"a.py", "x = '''", "x = '''\n)\n", ""},
		{"a.sh", "#!/bin/sh\nexit 0\n", "#!/bin/sh\n)\nexit 0\n", "#!/bin/sh\nexit 0\n# checked\n"},
		{"a.sh", "cat <<EOF\nx\n", ")\ncat <<EOF\nx\n", "cat <<EOF\nx\n# checked\n"},
		{"a.h", "#ifndef A\n#define A\nint f(void);\n#endif // A\n", "#ifndef A\n#define A\nint f(void);\n)\n#endif // A\n", "#ifndef A\n#define A\nint f(void);\n#endif // A\n// checked\n"},
		{"a.php", "<?php\necho 1;\n", "<?php\n)\n\necho 1;\n", "<?php\necho 1;\n// checked\n"},
		{"a.c", "int x;\n#ifdef TEST\nint y;\n#endif\n", "int x;\n#ifdef TEST\nint y;\n#endif\n)\n", "int x;\n#ifdef TEST\nint y;\n#endif\n// checked\n"},
		{"a.pl", "1;\n__END__\ntext\n", ")\n1;\n__END__\ntext\n", ""},
		{"a.css", "p { x: 1 }\n", "", "p { x: 1 }\n/* checked */\n"},
		{"a.json", "{}\n", "", ""},
		{"a.ml", "let x = 1\n", "let x = 1\n)\n", "let x = 1\n(* checked *)\n"},
		{"Makefile", "all:\n\ttrue\n", "all:\n\ttrue\n)\n", "all:\n\ttrue\n# checked\n"},
		{"Makefile", "A = b \\\n", "A = b \\\n)\n", ""},
	} {
		s, ok := Parse(test.path, []byte(test.text))
		if !ok {
			t.Errorf("%q is not read", test.text)
			continue
		}
		if have, ok := s.Break(); string(have) != test.broken || ok != (test.broken != "") {
			t.Errorf("Break(%q) = %q, want %q", test.text, have, test.broken)
		}
		if have, ok := s.Comment(); string(have) != test.commented || ok != (test.commented != "") {
			t.Errorf("Comment(%q) = %q, want %q", test.text, have, test.commented)
		}
	}
}

// FuzzParse checks that no text makes the package panic or return a changed part that
// is out of range.
func FuzzParse(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.Path, s.Text)
	}
	f.Add("a.go", []byte("package a\nfunc(){{(("))
	f.Add("a.rb", []byte("x ? 1 : \"#{y"))
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		if len(text) > 1<<12 {
			return // long texts only take longer
		}
		s, ok := Parse(path, text)
		if !ok {
			return
		}
		describe(s)
		s.Break()
		s.Comment()
		for _, l := range s.Literals() {
			if changed := s.Replace(l); changed != nil && bytes.Equal(changed, text) {
				t.Errorf("Replace(%+v) changes nothing", l)
			}
		}
	})
}
