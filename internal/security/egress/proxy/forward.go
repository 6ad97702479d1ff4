package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"
)

// maxAnswer bounds the header of a server's answer.
const maxAnswer = 64 << 10

// hops are hop-by-hop header fields, and those for the proxy.
var hops = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings",
	"Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info", "Expect",
}

// forward forwards one plain HTTP request and returns its answer. It serializes the
// parsed request anew, so that the server parses what the proxy did, and allows no
// second request on either connection.
func (p *Proxy) forward(ctx context.Context, client *live, in *bufio.Reader, upstream net.Conn, req *request, d *Decision) {
	_ = client.SetReadDeadline(time.Time{})
	resp, err := transport(upstream).RoundTrip(req.outgoing(ctx, in))
	if err == nil && resp.StatusCode < http.StatusOK {
		err = errors.Join(errors.New("the server switched protocols without being asked"), resp.Body.Close())
	}
	if err != nil {
		p.refuse(client, d, &refusal{status: http.StatusBadGateway, why: fmt.Sprintf("%s did not answer: %v", d.Host, err)})
		return
	}
	defer resp.Body.Close()
	p.report(d)
	dropHops(resp.Header)
	resp.Trailer, resp.Close = nil, true
	_ = resp.Write(client) // the client sees that it is cut off
}

// outgoing returns the request to send to the server.
func (r *request) outgoing(ctx context.Context, in *bufio.Reader) *http.Request {
	out := (&http.Request{
		Method: r.method, URL: r.url, Host: r.url.Host, Header: r.header, Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if r.chunked {
		out.Body, out.ContentLength = io.NopCloser(httputil.NewChunkedReader(in)), -1
	} else if r.length > 0 {
		out.Body, out.ContentLength = io.NopCloser(io.LimitReader(in, r.length)), r.length
	}
	dropHops(out.Header)
	out.Header.Del("Host")
	out.Header.Del("Content-Length")
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = []string{""} // or the library sends its own
	}
	return out
}

// dropHops removes hop-by-hop fields, including those that Connection lists.
func dropHops(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hops {
		h.Del(name)
	}
}

// transport returns a transport for one request over one connection.
func transport(conn net.Conn) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	handed := make(chan net.Conn, 1)
	handed <- conn
	return &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			select {
			case conn := <-handed:
				return conn, nil
			default:
				return nil, errors.New("the connection is already used")
			}
		},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxAnswer,
		Protocols:              protocols,
	}
}
