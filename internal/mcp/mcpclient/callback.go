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

// listener is the local HTTP server that the browser is redirected to at the
// end of a login.
type listener struct {
	url    string
	issuer string
	named  bool // the issuer includes its name in the answer
	state  string

	socket net.Listener
	server *http.Server
	answer chan answer
}

// answer is the result of the redirect.
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

// serve accepts the first answer with the right state parameter and ignores
// all others.
func (l *listener) serve() {
	l.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			state := query.Get("state")
			if r.Method != http.MethodGet || r.URL.Path != callbackPath || subtle.ConstantTimeCompare([]byte(state), []byte(l.state)) != 1 {
				http.Error(w, "this is not the login that Pawl is waiting for", http.StatusBadRequest)
				return
			}
			a := l.read(query)
			select {
			case l.answer <- a:
			default: // there was an answer already
			}
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			if a.err != nil {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintln(w, "Login failed. See Pawl for the reason.")
				return
			}
			fmt.Fprintln(w, "You are logged in. You can close this window.")
		}),
	}
	go func() { _ = l.server.Serve(l.socket) }() // ends with close
}

// read decodes the query parameters of the redirect.
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
		return answer{err: errors.New("the response comes from another issuer than the one asked: login canceled")}
	case get("error") != "":
		return answer{err: fmt.Errorf("the issuer answered: %s %s", line(get("error"), nameBytes), line(get("error_description"), whyChars))}
	case get("code") == "":
		return answer{err: errors.New("the issuer sent no code")}
	}
	return answer{code: get("code")}
}

// wait waits for the redirect and returns the authorization code.
func (l *listener) wait(ctx context.Context) (string, error) {
	select {
	case a := <-l.answer:
		return a.code, a.err
	case <-ctx.Done():
		return "", fmt.Errorf("the browser login was not completed: %w", context.Cause(ctx))
	}
}

// close lets the browser load its page before the server stops.
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
