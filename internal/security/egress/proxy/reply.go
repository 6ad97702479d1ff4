package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// refusal is an error answer of the proxy itself.
type refusal struct {
	status int
	why    string // one line
	advice string // what to do instead
}

func (r *refusal) Error() string { return r.why }

func malformed(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, why: "the request is malformed: " + fmt.Sprintf(format, args...)}
}

// maxReason bounds the reason in an answer's status line, in bytes.
const maxReason = 300

// refuse reports to the client and to Config.Decided why a request is denied.
func (p *Proxy) refuse(client net.Conn, d *Decision, err error) {
	d.Why = err.Error()
	p.report(d)
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{status: http.StatusBadGateway, why: err.Error()}
	}
	_ = client.SetDeadline(time.Now().Add(replyWait))
	_, err = client.Write(r.answer())
	if half, ok := client.(interface{ CloseWrite() error }); ok && err == nil && half.CloseWrite() == nil {
		// Closing with unread bytes would reset the connection, and a client that is
		// still writing would lose the answer.
		_, _ = io.CopyN(io.Discard, client, maxHead)
	}
}

// answer returns the refusal as HTTP. Most programs show at most the status line of
// an answer to CONNECT, so that contains the reason.
func (r *refusal) answer() []byte {
	why := plainText(r.why)
	body := "pawl: " + why + "\n"
	if r.advice != "" {
		body += plainText(r.advice) + "\n"
	}
	if len(why) > maxReason {
		why = why[:maxReason]
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d pawl: %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", r.status, why, len(body), body)
}

// plainText removes line breaks and terminal control characters.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
