package permission

import (
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestFollow: a rule that names a link has a twin for what is behind it.
func TestFollow(t *testing.T) {
	t.Parallel()
	real := map[string]string{"link": "/work/real", "~/.aws": "/vault/a*b", "/srv/a": "/srv/b"}
	for _, tt := range []struct{ kind, pattern, want string }{
		{"read", "link", "/work/real"},
		{"write", "./link/", "/work/real/"},
		{"read", "link/**", "/work/real/**"},
		{"read", "link/*/x?", "/work/real/*/x?"},
		{"read", "~/.aws/**", `/vault/a\*b/**`},
		{"read", "/srv/a", "/srv/b"},
		{"read", "file", ""},
		{"read", "**/link", ""},
		{"exec", "link", ""},
	} {
		r := Rule{Kind: pawl.AccessKind(tt.kind), Pattern: tt.pattern, Decision: Deny, Match: []string{tt.pattern}, Origin: OriginUser}
		got, ok := r.Follow(func(path string) string { return real[path] })
		if ok != (tt.want != "") {
			t.Errorf("%s %q: %t", tt.kind, tt.pattern, ok)
		}
		want := Rule{Kind: r.Kind, Pattern: tt.want, Decision: Deny, Origin: OriginUser}
		if ok && !got.equal(want) || ok && got.Match != nil {
			t.Errorf("%s %q leads to %+v", tt.kind, tt.pattern, got)
		}
	}
}

func TestPathPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, target string
		allows, covers  bool
	}{
		{"docs/a.md", "docs/a.md", true, true},
		{"docs/a.md", "/work/project/docs/a.md", true, true},
		{"docs/a.md", "docs/b/../a.md", true, true},
		{"docs/a.md", "./docs//a.md", true, true},
		{"./docs//a.md", "docs/a.md", true, true},
		{"docs/a.md", "docs/a.md.bak", false, false},
		{"docs/*", "docs/a", true, true},
		{"docs/*", "docs/a/b", false, true}, // denied with its parent
		{"docs/**", "docs/a/b", true, true},
		{"docs/**", "docs", true, true},
		{"docs/**", "docs-evil/a", false, false},
		{"**/.env", ".env", true, true},
		{"**/.env", "a/b/.env", true, true},
		{"**/.env", "/srv/.env", false, true}, // wherever it is
		{"*.go", "a.go", true, true},
		{"*.go", "a/b.go", false, false},
		{"{a,b}.go", "b.go", true, true},
		// A slash at the end, or none (C10).
		{"docs/", "docs", true, true},
		{"docs/", "docs/a/b", true, true},
		{"docs", "docs/a/b", false, true},
		{"~/.aws/", "~/.aws/credentials", true, true},
		{"~/.aws/", "/home/me/.aws/credentials", true, true},
		{"~/.aws", "/home/me/.aws/credentials", false, true},
		{"~/.aws/**", "/home/me/.aws", true, true},
		{"~/.aws/", "/home/me/.aws-evil", false, false},
		{"/home/me/.aws/", "~/.aws/x", true, true},
		{"/srv/", "/srv/a", true, true},
		{"/", "/etc/hosts", true, true},
		{".", "a/b", true, true},
		{"./", "a/b", true, true},
		{".", "/etc/hosts", false, false},
		{"~", "~", true, true},
		{"~/", "/home/me/x", true, true},
		// Around the home directory (C11).
		{"~//etc", "~/etc", true, true},
		{"~//etc", "/etc", false, false},
		{"/etc/*", "~//etc/x", false, false},
		{"/home/*", "~/../x", true, true},
		{"/etc/passwd", "~/../../etc/passwd", true, true},
		// Case and Unicode, for deny rules only (C8).
		{"docs/a", "DOCS/A", false, true},
		{"caf\u00e9", "cafe\u0301", false, true},
		{"caf\u00c9/x", "cafe\u0301/X", false, true},
		{"straße", "STRASSE", false, true},
		{"secret", "sec\u200bret", false, true},
		{"secret", "secret. ", false, true},
		{"secret", "secret::$DATA", false, true},
		{"kelvin", "\u212aelvin", false, true},
		{`a\\b`, `a\b`, true, true},
		{`a\[1\]`, "a[1]", true, true},
		{`a\*`, "a*", true, true},
		{`a\*`, "ab", false, false},
		// Workspace and elsewhere are not the same.
		{"a", "/a", false, false},
		{"a", "../a", false, false},
		{"/a", "a", false, false},
		{"**", "/etc/hosts", false, false},
		{"/work/project/**", "a", true, true},
	} {
		pattern, err := parsePath(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		at, err := Policy{Dir: "/work/project", Home: "/home/me"}.place(tt.target)
		if err != nil {
			t.Errorf("%s: %v", tt.target, err)
			continue
		}
		if got := pattern.allows(at); got != tt.allows {
			t.Errorf("%q allows %q: %v", tt.pattern, tt.target, got)
		}
		if got := pattern.covers(at, false); got != tt.covers {
			t.Errorf("%q covers %q: %v", tt.pattern, tt.target, got)
		}
	}
}

// A directory is not moved or removed while a rule protects what is in it (C14).
func TestWriteAbove(t *testing.T) {
	t.Parallel()
	pattern, err := parsePath("a/b/secret")
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Dir: "/w"}
	for target, want := range map[string]bool{"a": true, "A/B": true, "a/b/secret": true, "a/c": false, "a/b/secrets": false, "/w": true} {
		at, err := p.place(target)
		if err != nil {
			t.Fatal(err)
		}
		if got := pattern.covers(at, true); got != want {
			t.Errorf("a write to %s: %v", target, got)
		}
		if got := pattern.covers(at, false); got != (target == "a/b/secret") {
			t.Errorf("a read of %s: %v", target, got)
		}
	}
}

func TestPlaceWithoutFolders(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]place{
		"a/../b": {rel: "b"},
		"../b":   {},
		"/a/b/":  {abs: "/a/b"},
		"~/a":    {home: "~/a"},
		"~/../a": {},
		"~bob":   {},
	} {
		if got, err := (Policy{}).place(target); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", target, got, err, want)
		}
	}
}
