//go:build sectest

package security

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// fillsMemory: a token sends prompts that are as large as one may be, all at once, and
// does not end them.
func fillsMemory(a *attackEnv) {
	s := a.serve()
	path := "/v1/sessions/" + string(s.create()) + "/prompts"
	const size, requests = 47 << 20, 6
	refused := make(chan bool, requests)
	for range requests {
		go func() {
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				refused <- false
				return
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", path, s.addr, s.token, size)
			head := make([]byte, 12)
			_, err = io.ReadFull(c, head) // an open request gets no response
			refused <- err == nil && string(head) == "HTTP/1.1 429"
		}()
	}
	n := 0
	for range requests {
		if <-refused {
			n++
		}
	}
	if n < requests-1 {
		a.breach("the server holds %d requests of %d bytes", requests-n, size)
	}
}

// asksTooOften: a server that others can reach is asked as often as a client can.
func asksTooOften(a *attackEnv) {
	cmd := a.command("serve", "--listen", "0.0.0.0:0", "--host", "127.0.0.1", "--log", "none")
	token := strings.Repeat("s", 32)
	cmd.Env = append(slices.Clone(a.env), "PAWL_SERVER_TOKEN="+token)
	addr := a.begin(cmd)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		a.Fatal(addr, err)
	}
	s := &served{a: a, addr: net.JoinHostPort("127.0.0.1", port), token: token}
	for range 3000 { // at 10 a second a slow machine has some given back
		if status, text, h := s.ask("GET", "/v1/info", "", s.owner()); status == http.StatusTooManyRequests {
			if h.Get("Retry-After") == "" {
				a.Errorf("it does not say when to come again: %s", text)
			}
			return
		} else if status != http.StatusOK {
			a.Fatalf("%d %s", status, text)
		}
	}
	a.breach("3000 requests were answered at once")
}
