package git

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// remote creates a repository to fetch from: a file, an executable, a symbolic link, a
// submodule, and files with filters and attributes.
func remote(t *testing.T) *env {
	t.Helper()
	w := newEnv(t)
	w.file("SKILL.md", "first\n")
	w.file("run.sh", "#!/bin/sh\n")
	w.file(".gitattributes", "*.md filter=lfs eol=crlf\n")
	w.file(".gitmodules", "[submodule \"other\"]\n\tpath = other\n\turl = https://example.com/x\n")
	if err := errors.Join(os.Chmod(filepath.Join(w.dir, "SKILL.md"), 0o644), os.Symlink("/etc/passwd", filepath.Join(w.dir, "link"))); err != nil {
		t.Fatal(err)
	}
	w.must("add", "-A")
	w.must("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",other")
	w.must("commit", "-qm", "first")
	w.must("tag", "v1")
	w.file("SKILL.md", "second\n")
	w.must("commit", "-qam", "second")
	return w
}

func finder(t *testing.T) *Git {
	t.Helper()
	g, err := Find(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestFetch: a commit is fetched as it was stored, and only as git objects.
func TestFetch(t *testing.T) {
	w := remote(t)
	t.Setenv("TMPDIR", t.TempDir())
	first := strings.TrimSpace(w.must("rev-parse", "v1"))
	for _, ref := range []string{"v1", first} {
		f, err := finder(t).Fetch(t.Context(), Remote{Address: "file://" + w.dir, Ref: ref, Local: true})
		if err != nil {
			t.Fatal(err)
		}
		if f.Commit() != first {
			t.Errorf("%s: %s, want %s", ref, f.Commit(), first)
		}
		var got []string
		if err := f.Walk(func(path string, mode fs.FileMode, size int64) error {
			got = append(got, fmt.Sprintf("%s %s %d", mode, path, size))
			return nil
		}); err != nil {
			t.Error(err)
		}
		for _, want := range []string{"-rw-r--r-- SKILL.md 6", "-rwxr-xr-x run.sh 10", "L--------- link 11", "?--------- other 0"} {
			if !strings.Contains(strings.Join(got, "\n"), want) {
				t.Errorf("%s is not in %q", want, got)
			}
		}
		if text, err := f.ReadFile(t.Context(), "SKILL.md"); string(text) != "first\n" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := f.ReadFile(t.Context(), "none"); !errors.Is(err, pawl.ErrNotFound) {
			t.Error(err)
		}
		entries, err := os.ReadDir(f.repo.Top)
		if len(entries) != 1 || entries[0].Name() != ".git" || err != nil {
			t.Errorf("%v, %v", entries, err)
		}
		if err := f.Close(); err != nil || exists(f.repo.Top) {
			t.Error(err)
		}
	}
}

// TestFetchRefuses: a failed fetch leaves nothing behind.
func TestFetchRefuses(t *testing.T) {
	w := remote(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	g := finder(t)
	for name, from := range map[string]Remote{
		"a file, unasked":  {Address: "file://" + w.dir},
		"a path":           {Address: w.dir, Local: true},
		"a relative path":  {Address: "file://x", Local: true},
		"dots":             {Address: "file://" + w.dir + "/../x", Local: true},
		"a helper":         {Address: "ext::sh -c true", Local: true},
		"plain http":       {Address: "http://127.0.0.1/x"},
		"an option":        {Address: "--upload-pack=true"},
		"an option as ref": {Address: "file://" + w.dir, Ref: "--upload-pack=true", Local: true},
		"a refspec":        {Address: "file://" + w.dir, Ref: "HEAD:refs/heads/x", Local: true},
		"no such ref":      {Address: "file://" + w.dir, Ref: "none", Local: true},
		"no repository":    {Address: "file://" + temp, Local: true},
	} {
		if f, err := g.Fetch(t.Context(), from); err == nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if _, err := g.fetch(t.Context(), Remote{Address: "file://" + w.dir, Local: true}, 100); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "larger than 100 bytes") {
		t.Errorf("too large: %v", err)
	}
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("%v, %v", left, err)
	}
}

// TestFetchHTTPS: the same over the network, from git's own server.
func TestFetchHTTPS(t *testing.T) {
	w := remote(t)
	backend, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(backend)), "git-http-backend"), Stderr: os.Stderr,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(w.dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	})
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NO_PROXY", "127.0.0.1")
	t.Setenv("no_proxy", "127.0.0.1")
	from := Remote{Address: server.URL + "/" + filepath.Base(w.dir) + "/.git"}
	if _, err := finder(t).Fetch(t.Context(), from); err == nil {
		t.Error("a server that nobody vouches for is believed")
	}
	t.Setenv("GIT_SSL_CAINFO", ca)
	f, err := finder(t).Fetch(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.ReadFile(t.Context(), "SKILL.md")
	if diff := cmp.Diff("second\n", string(text)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
