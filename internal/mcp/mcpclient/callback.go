package mcpclient

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// listener waits on this machine for the browser to come back from a login.
type listener struct {
	url    string
	issuer string
	named  bool // the issuer names itself in its answer
	state  string

	socket net.Listener
	server *http.Server
	answer chan answer
}

// answer is what the browser brought.
type answer struct {
	code string
	err  error
}

const callbackPath = "/callback"

func listen(issuer string, named bool) (*listener, error) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the login: %w", err)
	}
	return &listener{
		url: "http://" + socket.Addr().String() + callbackPath, issuer: issuer, named: named,
		socket: socket, answer: make(chan answer, 1),
	}, nil
}

// serve takes the first answer that has the state; whoever does not know it is
// not listened to.
func (l *listener) serve() {
	l.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			state := query.Get("state")
			if r.Method != http.MethodGet || r.URL.Path != callbackPath || subtle.ConstantTimeCompare([]byte(state), []byte(l.state)) != 1 {
				http.Error(w, "this is not the login that pawl waits for", http.StatusBadRequest)
				return
			}
			a := l.read(query)
			select {
			case l.answer <- a:
			default: // there was one
			}
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			if a.err != nil {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintln(w, "The login failed. Go back to pawl, which says why.")
				return
			}
			fmt.Fprintln(w, "You are logged in. You can close this window.")
		}),
	}
	go func() { _ = l.server.Serve(l.socket) }() // it ends with close
}

// read reads what the issuer says through the browser.
func (l *listener) read(query map[string][]string) answer {
	get := func(name string) string {
		if v := query[name]; len(v) == 1 {
			return v[0]
		}
		return ""
	}
	iss := get("iss")
	switch {
	case iss != l.issuer && (iss != "" || l.named):
		return answer{err: errors.New("the answer came from another issuer than was asked: the login is void")}
	case get("error") != "":
		return answer{err: fmt.Errorf("the issuer says: %s %s", line(get("error"), nameBytes), line(get("error_description"), whyChars))}
	case get("code") == "":
		return answer{err: errors.New("the issuer sent no code")}
	}
	return answer{code: get("code")}
}

// wait waits for the browser.
func (l *listener) wait(ctx context.Context) (string, error) {
	select {
	case a := <-l.answer:
		return a.code, a.err
	case <-ctx.Done():
		return "", fmt.Errorf("nobody came back from the login: %w", context.Cause(ctx))
	}
}

// close lets the browser read its page before the server is gone.
func (l *listener) close() {
	if l.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), endGrace)
		defer cancel()
		if l.server.Shutdown(ctx) != nil {
			_ = l.server.Close()
		}
	}
	_ = l.socket.Close()
}
