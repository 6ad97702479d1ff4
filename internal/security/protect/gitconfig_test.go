package protect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// configs are texts of configurations, valid ones and others.
var configs = []string{
	"", "\n\n", "# comment\n; another\n", "[core]\n\tbare = false\n", "[core]bare=true\n", "[CORE]\nBare = x\n",
	"[a \"b\"]\nc = d\n", "[a \"B\\\"\\\\x\"]\nc = d\n", "[a.B]\nc = d\n", "[a.b.c]\nd = e\n", "[a  \"b\"] c = d # e\n", "[a \t\"\"]\nb=c\n",
	"[a]\nb\n", "[a]\nb # c\n", "[a]\nb =\n", "[a]\nb = \n", "[a]\nb = c d  e  \n", "[a]\nb = \"c  \" # d\n", "[a]\nb = c\"d e\"f\n", "[a]\nb = x ; y\n", "[a]\nb = \"x ; y\"\n",
	"[a]\nb = \\\"x\\\\ \\t\\n\\b\n", "[a]\nb = c\\\nd\n", "[a]\nb = c \\\n  d\n", "[a]\nb = \"c\\\nd\"\n", "[a]\nb = c", "[a]\nb-c = d\n", "[a]\r\nb = c\r\n", "[a]\nb\t=\tc\n",
	"[a]\nb = c\n[a]\nb = d\n[include]\npath = x\n", "[a \"x]y\"]\nb = c\n", "[a]\nb = \"\"\n", "[a]\nb = \" \"x\n", "[a] ; c\nb = d\n", "[a]\nb=c=d\n", "[a]\nb = # c\n",
	"[a]\nb = x # y \\\nc = d\n", "[a]\nb = \\\n", "[a]\nb = x\\", "\t[a]\n b = c\n",
	// not valid
	"[a", "[a]\n= b\n", "[a]\n1b = c\n", "b = c\n", "[a]\nb = \"c\n", "[a]\nb = \\x\n", "[a \"b]\nc = d\n", "[a b]\nc = d\n", "[a]\nb c = d\n", "[a]\nb_c = d\n", "[]\na = b\n", "[a \"b\" ]\nc = d\n", "[a\"b\"]\nc = d\n",
	"[a]\nb = c\rd\n", "[a]\nb = c\x00d\n", "\ufeff[a]\nb = c\n",
}

// TestConfigAsGit: what the parser accepts, it reads as git does, and it accepts what git does, except for characters
// that git never writes, a key without a section and a backslash at the end.
func TestConfigAsGit(t *testing.T) {
	t.Parallel()
	for _, text := range configs {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errGit := exec.CommandContext(t.Context(), "git", "config", "--no-includes", "--list", "-z", "-f", file).Output()
		c, err := parseConfig([]byte(text))
		if err != nil {
			if errGit == nil && !strings.ContainsAny(text, "\r\x00\ufeff") && text != "b = c\n" && !strings.HasSuffix(text, `\`) {
				t.Errorf("%q is not accepted, but git reads %q", text, out)
			}
			continue
		}
		var b strings.Builder
		for _, s := range c.settings {
			name := s.section
			if s.sub != "" || strings.Contains(text, `""]`) {
				name += "." + s.sub
			}
			b.WriteString(name + "." + s.key + "\n" + s.value + "\x00")
		}
		want := strings.ReplaceAll(string(out), "a.b\x00", "a.b\ntrue\x00") // git leaves out the value of a key alone
		if errGit != nil || b.String() != want {
			t.Errorf("%q is read as %q, by git as %q, %v", text, b.String(), out, errGit)
		}
	}
}

func TestConfigChange(t *testing.T) {
	t.Parallel()
	const old = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = u\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
	for _, tt := range []struct {
		name, now string
		ok        bool
	}{
		{"the same, in another form", "[CORE]\nbare=false\n[remote \"origin\"]\nurl = \"u\"\n", true},
		{"a branch", old + "[branch \"x\"]\n\tremote = .\n\tmerge = refs/heads/main\n\trebase = true\n\tdescription = \"a b\"\n\tpushRemote = origin\n", true},
		{"no branch", strings.Split(old, "[branch")[0], true},
		{"another remote", old + "[branch \"x\"]\n\tremote = other\n", false},
		{"a URL", old + "[branch \"x\"]\n\tremote = https://evil\n", false},
		{"a push URL", old + "[branch \"x\"]\n\tpushRemote = https://evil\n", false},
		{"an option for a ref", old + "[branch \"x\"]\n\tmerge = --evil\n", false},
		{"another way to rebase", old + "[branch \"x\"]\n\trebase = evil\n", false},
		{"another key of a branch", old + "[branch \"x\"]\n\tmergeOptions = -s evil\n", false},
		{"a key of all branches", old + "[branch]\n\tremote = origin\n", false},
		{"another key", old + "[core]\n\tpager = evil\n", false},
		{"a section of another case", old + "[Core]\n\tPager = evil\n", false},
		{"a key behind a section", old + "[core] pager = evil\n", false},
		{"another value", strings.Replace(old, "false", "true", 1), false},
		{"a key less", "[remote \"origin\"]\n\turl = u\n", false},
		{"another order", "[remote \"origin\"]\n\turl = u\n[core]\n\tbare = false\n", false},
		{"an include", old + "[include]\n\tpath = x\n", false},
		{"an include with a condition", old + "[includeIf \"gitdir:x\"]\n\tpath = x\n", false},
		{"a continued line", old + "[branch \"x\"]\n\tdescription = a\\\nb\n", false},
		{"a syntax error", old + "[branch \"x\"\n", false},
	} {
		if reason := checkConfigChange([]byte(old), []byte(tt.now)); (reason == "") != tt.ok {
			t.Errorf("%s: %q", tt.name, reason)
		}
	}
	if checkConfigChange([]byte("[a"), []byte("[a")) == "" {
		t.Error("a configuration that cannot be read is allowed")
	}
}

func TestSafeURL(t *testing.T) {
	t.Parallel()
	for u, want := range map[string]bool{
		"https://example.org/x": true, "http://x/y": true, "ssh://git@example.org/x": true, "git@example.org:x/y.git": true, "/tmp/x": true, "../x": true, "file:///x": true, "git://x/y": true, `C:\x`: true,
		"": false, "ext::sh -c x": false, "fd::17": false, "-x": false, "--upload-pack=x": false, "ssh://-oProxyCommand=x/y": false, "git@-oProxyCommand=x:y": false,
		"foo://x": false, "x\ny": false, "https::x": false, "transport::address": false,
	} {
		if safeURL(u) != want {
			t.Errorf("%q: %v", u, !want)
		}
	}
}
