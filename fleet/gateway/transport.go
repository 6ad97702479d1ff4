// Package gateway gives hosts without API keys access to models over HTTP. A [Handler] serves models on a host
// that has the keys; a [Client] opens them on other hosts. Chunks and errors are passed on unchanged. Retries
// happen on the side of the keys.
package gateway

import (
	"net"
	"net/http"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// TenantHeader is the header with the tenant of a call.
const TenantHeader = "Pawl-Tenant"

// A peer that was silent for pingAfter is pinged and must answer within pingTimeout. So both sides notice a lost
// peer within ten seconds, however long a model takes to reply.
const (
	pingAfter   = 4 * time.Second
	pingTimeout = 4 * time.Second
)

// Server returns a server for a [Handler]. It speaks HTTP/2, over TLS if it is served with a certificate.
func Server(h http.Handler) *http.Server { return server(h, pingAfter, pingTimeout) }

// Transport returns the transport of a [Client], for callers that change how certificates are verified.
func Transport() *http.Transport { return transport(pingAfter, pingTimeout) }

func server(h http.Handler, quiet, answers time.Duration) *http.Server {
	return &http.Server{
		Handler: h, Protocols: onlyHTTP2(), ReadHeaderTimeout: 10 * time.Second,
		HTTP2: &http.HTTP2Config{SendPingTimeout: quiet, PingTimeout: answers},
	}
}

func transport(quiet, answers time.Duration) *http.Transport {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, TLSHandshakeTimeout: 5 * time.Second,
		Protocols: onlyHTTP2(), IdleConnTimeout: 5 * time.Minute,
		HTTP2: &http.HTTP2Config{SendPingTimeout: quiet, PingTimeout: answers},
	}
}

// onlyHTTP2 selects the protocol that has pings. With HTTP/1.1, a lost peer would go unnoticed while a model is
// working.
func onlyHTTP2() *http.Protocols {
	var p http.Protocols
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return &p
}

// unavailable returns an error of the connection to the gateway. It says nothing about the model, so the call
// can be retried.
func unavailable(format string, args ...any) error {
	return fault.New(pawl.ErrUnavailable, format, args...)
}
