//go:build e2e

package cli

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// TestServeLink signs a browser in with the link that 'pawl serve --link' prints, and out with 'pawl token revoke'.
func TestServeLink(t *testing.T) {
	t.Parallel()
	bin, dir := harness.Binary(t, ""), t.TempDir()
	pawl := func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "PAWL_DATA="+filepath.Join(dir, "data"), "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=")
		return cmd
	}
	cmd := pawl("serve", "--listen", "127.0.0.1:0", "--link", "--log", "none")
	output, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	printed := regexp.MustCompile(`pawl: to sign in, open (http://127\.0\.0\.1:\d+)/signin\?link=(\S+) `)
	var m []string
	for lines := bufio.NewScanner(output); m == nil && lines.Scan(); {
		m = printed.FindStringSubmatch(lines.Text())
	}
	if m == nil {
		t.Fatal("it prints no link")
	}
	ask := func(method, path, body string, header map[string]string) (int, string, http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, m[1]+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range header {
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text), resp.Header
	}
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": m[1]}
	status, text, h := ask("POST", "/signin", url.Values{"link": {m[2]}}.Encode(), form)
	if status != http.StatusSeeOther {
		t.Fatalf("sign in: %d %s", status, text)
	}
	cookie, _, _ := strings.Cut(h.Get("Set-Cookie"), ";")
	devices := func() (int, string) {
		status, text, _ := ask("GET", "/v1/devices", "", map[string]string{"Cookie": cookie})
		return status, text
	}
	status, text = devices()
	name := regexp.MustCompile(`"name":"(device-\w+)","scope":"admin"`).FindStringSubmatch(text)
	if status != http.StatusOK || name == nil {
		t.Fatalf("devices: %d %s", status, text)
	}
	if out, err := pawl("token", "list").CombinedOutput(); err != nil || !regexp.MustCompile(name[1]+` +device +admin +active`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := pawl("token", "revoke", name[1]).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wait.Until(t, "the browser is signed out", func() bool {
		status, _ := devices()
		return status == http.StatusUnauthorized
	})
}
