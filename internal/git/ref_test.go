package git

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

var goodRefs = []string{"main", "HEAD", "refs/heads/main", "feature/x-1", "v1.2.3", "a@b", "b516cdf164c405b485450196288cfa5a4cc4fa29", "größe", "a;b"}

// badRefs are invalid names; most are options, in full or abbreviated. Rows B16, B18,
// C21, D4.
var badRefs = []string{
	"", "-", "--", "--output=x", "--outp=x", "--upload-pack=touch x", "--upload-p=touch", "-u", "--ext-diff", "--textconv", "--end-of-options", "-ctouch",
	"--exec=x", "--no-index", "@", "a@{1}", "a..b", "a...b", "HEAD~1", "HEAD^", "main:f", ":/x", "a b", "a\tb", "a\nb", "a\x00b", "a\x7fb", "a*", "a?", "[a]", `a\b`,
	".a", "a/.b", "a.lock", "a.lock/b", "a/", "/a", "a//b", "a.", "a/-b", strings.Repeat("a", 256),
}

func TestCheckRef(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	for _, name := range goodRefs {
		if err := CheckRef(name); err != nil {
			t.Error(err)
		}
		if out, err := w.plain("check-ref-format", "--allow-onelevel", name); err != nil {
			t.Errorf("git refuses %q: %s", name, out)
		}
	}
	for _, name := range badRefs {
		if err := CheckRef(name); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestOptions: git never takes an untrusted name for an option or for a path outside.
func TestOptions(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repo()
	for _, ref := range badRefs {
		for _, name := range []string{"diff", "show", "log", "rev-parse", "fetch", "worktree"} {
			if out, err := r.Run(t.Context(), Call{Args: []string{name}, Refs: []string{ref}}); !errors.Is(err, pawl.ErrInvalid) {
				t.Errorf("%s %q: %.50q, %v", name, ref, out, err)
			}
		}
	}
	// If one is accepted after all, it names nothing that exists.
	for _, name := range []string{"diff", "show", "log"} {
		if out, err := r.run(t.Context(), Call{Args: []string{name}, Refs: []string{"--output=out"}}); err == nil {
			t.Errorf("%s: %s", name, out)
		}
	}
	if exists(filepath.Join(w.dir, "out")) {
		t.Error("it was written to")
	}
	if w.must("diff", "--output=out"); !exists(filepath.Join(w.dir, "out")) {
		t.Error("plain git does not fall for it")
	}
	if out, _ := w.plain("fetch", "--upload-p="+w.evil, "."); w.tripped() == "" {
		t.Errorf("plain git does not fall for it: %s", out)
	}
	for _, path := range []string{"../x", "/etc/passwd", "", "sub/../../x", "a\x00b"} {
		if _, err := r.Run(t.Context(), Call{Args: []string{"add"}, Paths: []string{path}}); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, args := range [][]string{nil, {"-c", "alias.x=!touch x", "x"}, {"-calias.x=!touch x"}, {"--exec-path=/tmp", "status"}, {"-C", "/", "status"}, {"--git-dir=/x"}, {"--config-env=a=b"}, {"x"}, {"daemon"}, {"bisect"}, {"diff "}, {"Diff"}} {
		if _, err := r.Run(t.Context(), Call{Args: args}); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %v", args, err)
		}
	}
	for _, p := range []string{"ext", "file", "http", "git", "", "HTTPS"} {
		if _, err := r.Run(t.Context(), Call{Args: []string{"fetch"}, Protocols: []string{p}}); !errors.Is(err, pawl.ErrDenied) {
			t.Errorf("%q: %v", p, err)
		}
	}
}

// TestNetwork: a call with network access fails if the repository's configuration
// affects the network.
func TestNetwork(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"url.ext::x.insteadOf", "http.proxy", "http.https://h/.sslVerify", "core.sshCommand", "core.gitProxy", "remote.origin.vcs", "remote.origin.uploadpack", "remote.origin.proxy", "protocol.ext.allow"} {
		w := newEnv(t)
		config("remote.origin.url", "ssh://127.0.0.1:1/x", key, "false")(w)
		if _, err := w.repo().Run(t.Context(), Call{Args: []string{"fetch", "origin"}, Protocols: []string{"ssh"}}); !errors.Is(err, pawl.ErrDenied) || !strings.Contains(err.Error(), "changes how git connects to the network") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
