//go:build sectest

package security

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/store"
)

const secretText = "the secret of somebody"

// put writes a file, and its directory.
func (a *attackEnv) put(path, text string) {
	a.Helper()
	a.ok(os.MkdirAll(filepath.Dir(path), 0o700))
	a.ok(os.WriteFile(path, []byte(text), 0o600))
}

// leaks asks for a file in every way, and reports what shows the secret.
func (s *webServer) leaks(path string, header as) {
	s.a.Helper()
	q := "?path=" + url.QueryEscape(path)
	for _, route := range []string{"/file" + q, "/file" + q + "&offset=0&length=100", "/diff" + q, "/diff" + q + "&working_tree=true", "/diff?working_tree=true"} {
		if status, text, _ := s.ask("GET", s.path+route, "", header); strings.Contains(text, secretText) {
			s.a.breach("%s: %d shows it", route, status)
		}
	}
	dir := "?path=" + url.QueryEscape(filepath.Dir(path))
	if status, text, _ := s.ask("GET", s.path+"/files"+dir, "", header); strings.Contains(text, "hidden-name") {
		s.a.breach("/files%s: %d lists it", dir, status)
	}
}

// reads checks that the file system is in sight at all.
func (s *webServer) reads(path, want string) {
	s.a.Helper()
	if status, text, _ := s.ask("GET", s.path+"/file?path="+url.QueryEscape(path), "", operator); status != http.StatusOK || text != want {
		s.a.Errorf("a file that may be read: %d %q", status, text)
	}
}

func readsOutside(a *attackEnv) {
	s := a.web()
	a.put(filepath.Join(a.outside, "hidden-name"), secretText)
	a.put(filepath.Join(a.dir, "sub", "open"), "open")
	a.ok(os.Symlink(filepath.Join(a.outside, "hidden-name"), filepath.Join(a.dir, "link")))
	a.ok(os.Symlink(a.outside, filepath.Join(a.dir, "linked")))
	a.ok(os.Symlink("linked", filepath.Join(a.dir, "sub", "twice")))
	up, err := filepath.Rel(a.dir, a.outside)
	a.ok(err)
	for _, dir := range []string{a.outside, up, "sub/../" + up, "./" + up, "linked", "sub/../linked", "sub/twice", a.dir + "/linked", a.dir + "/" + up, "sub//..//linked", up + "/."} {
		s.leaks(dir+"/hidden-name", operator)
	}
	s.leaks("link", operator)
	s.leaks("link\x00", operator)
	s.reads("sub/open", "open")
}

func readsSecrets(a *attackEnv) {
	a.put(filepath.Join(a.dir, ".env"), secretText)
	a.put(filepath.Join(a.dir, "open"), "open")
	a.git(a.dir, "init", "-q")
	a.ok(os.Symlink(".env", filepath.Join(a.dir, "innocent")))
	s := a.web()
	for _, path := range []string{".env", "./.env", a.dir + "/.env", "innocent", ".ENV"} {
		s.leaks(path, operator)
	}
	s.reads("open", "open")
}

func showsActiveContent(a *attackEnv) {
	s := a.web()
	for name, text := range map[string]string{
		"page.html": "<!doctype html><script>alert(1)</script>", "drawing.svg": `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
		"feed.xml": `<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>`, "x.js": "alert(1)", "x.pdf": "%PDF-1.7", "image.png": "<html><script>alert(1)</script>",
	} {
		a.put(filepath.Join(a.dir, name), text)
		status, _, header := s.ask("GET", s.path+"/file?path="+name, "", operator)
		kind := header.Get("Content-Type")
		if status != http.StatusOK || kind != "text/plain; charset=utf-8" && kind != "application/octet-stream" {
			a.breach("%s is %q (%d)", name, kind, status)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Content-Disposition") != "attachment" || !strings.Contains(header.Get("Content-Security-Policy"), "sandbox") {
			a.breach("a browser may show %s: %v", name, header)
		}
	}
}

func readsOthersFiles(a *attackEnv) {
	a.put(filepath.Join(a.dir, "hidden-name"), secretText)
	a.git(a.dir, "init", "-q")
	s := a.web()
	rival := s.token(store.Token{User: "eve", Scope: "admin"})
	s.leaks("hidden-name", rival)
	s.leaks("./hidden-name", rival)
	s.reads("hidden-name", secretText)
}
