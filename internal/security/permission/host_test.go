package permission

import "testing"

func TestHostPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, target string
		allows, covers  bool
	}{
		{"docs.x.org", "docs.x.org", true, true},
		{"docs.x.org", "https://docs.x.org/a?b#c", true, true},
		{"docs.x.org", "DOCS.X.ORG.", true, true},
		{"Docs.X.org.", "docs.x.org", true, true},
		{"docs.x.org", "docs.x.org.evil.test", false, false},
		{"docs.x.org", "evil-docs.x.org", false, false},
		{"docs.x.org", "a.docs.x.org", false, false},
		{"docs.x.org", "https://docs.x.org@evil.test/", false, false},
		{"docs.x.org", "https://evil.test@docs.x.org/", false, true},
		{"docs.x.org", "https://docs.x.org:443/", true, true},
		{"docs.x.org", "http://docs.x.org/", true, true},
		{"docs.x.org", "docs.x.org:22", false, true},
		{"docs.x.org:8443", "docs.x.org:8443", true, true},
		{"docs.x.org:8443", "docs.x.org", false, true},
		{"docs.x.org:8443", "docs.x.org:443", false, false},
		{"*.x.org", "a.x.org", true, true},
		{"*.x.org", "a.b.x.org", true, true},
		{"*.x.org", "x.org", false, false},
		{"*.x.org", "evilx.org", false, false},
		{"*.x.org", "x.org.evil.test", false, false},
		{"*.x.org", "a.x.org:8080", false, true},
		{"*", "anything.test", true, true},
		{"*", "10.0.0.1", true, true},
		{"*", "a@b.test", false, true},
		{"bücher.example", "xn--bcher-kva.example", true, true},
		{"xn--bcher-kva.example", "BÜCHER.example", true, true},
		{"bücher.example", "bu\u0308cher.example", true, true},
		{"apple.com", "\u0430pple.com", false, false}, // a Cyrillic а
		{"example.com", "ｅｘａｍｐｌｅ.com", true, true},
		{"example.com", "example\u3002com", true, true},
		{"127.0.0.1", "127.0.0.1", true, true},
		{"127.0.0.1", "http://127.0.0.1:80/", true, true},
		{"127.0.0.1", "127.0.0.1.", true, true},
		{"127.0.0.1", "::ffff:127.0.0.1", true, true},
		{"127.0.0.1", "１２７.0.0.1", true, true},
		{"*.0.0.1.example", "127.0.0.1", false, false},
		{"::1", "[0:0::1]:443", true, true},
		{"[::1]:8080", "http://[::1]:8080/", true, true},
	} {
		pattern, err := parseHostPattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		h, err := parseHost(tt.target)
		if err != nil {
			t.Errorf("%s: %v", tt.target, err)
			continue
		}
		if got := pattern.allows(h); got != tt.allows {
			t.Errorf("%q allows %q: %v", tt.pattern, tt.target, got)
		}
		if got := pattern.covers(h); got != tt.covers {
			t.Errorf("%q covers %q: %v", tt.pattern, tt.target, got)
		}
	}
}

// What programs read in more than one way is no host.
func TestNoHosts(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		"", ".", "..", "a..b", "https://", "https:///x", `https://good.test\@evil.test`, "good.test%2eevil.test", "a b.test", "a\tb", "a\u200bb.test",
		"0x7f.1", "127.1", "2130706433", "017700000001", "1.2.3.4.5", "a.0x7f", "256.1.1.1", "fe80::1%eth0", "good.test:", "good.test:x", "[::1", "-a.test/ b",
		"xn--a.test", "a\x00.test", "a_b.test", "good.test\n.evil.test",
	} {
		if h, err := parseHost(target); err == nil {
			t.Errorf("%q is %+v", target, h)
		}
	}
}

func TestMixedScripts(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"apple": "", "ü": "", "日本ひらカタ": "", "go言語": "", "привет": "", "a1-_": "", "αβγ": "",
		"\u0430pple": "Cyrillic and Latin", "pαypal": "Greek and Latin", "日本\u0430b": "Cyrillic and Han and Latin",
	} {
		if got := mixedScripts(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
