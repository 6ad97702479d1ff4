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

// refusal is an answer of the proxy's own.
type refusal struct {
	status int
	why    string // one line
	advice string // what to do instead
}

func (r *refusal) Error() string { return r.why }

func malformed(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, why: "the request is malformed: " + fmt.Sprintf(format, args...)}
}

// maxReason bounds what is said in an answer's first line.
const maxReason = 300

// refuse tells both sides why nothing comes of a request.
func (p *Proxy) refuse(client net.Conn, d *Decision, err error) {
	d.Why = err.Error()
	p.tell(d)
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{status: http.StatusBadGateway, why: err.Error()}
	}
	_ = client.SetDeadline(time.Now().Add(replyWait))
	_, err = client.Write(r.answer())
	if half, ok := client.(interface{ CloseWrite() error }); ok && err == nil && half.CloseWrite() == nil {
		// To close with bytes unread would take the answer back from a client that
		// is still writing.
		_, _ = io.CopyN(io.Discard, client, maxHead)
	}
}

// answer is the refusal as HTTP. Most programs show only the first line of an
// answer to CONNECT, if anything: so it says why.
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

// plainText leaves nothing in a text that ends a line or steers a terminal.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
