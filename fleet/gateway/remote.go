// Package gateway lets those who have no keys ask models through those who have
// them. A [Handler] has the models and serves them over HTTP; a [Client] opens
// models that are there. What a model says, and how it fails, arrives as if it
// were here. What is retried is retried where the keys are.
package gateway

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/pawl-dev/pawl"
)

// TenantHeader names the tenant that a call is made for.
const TenantHeader = "Pawl-Tenant"

// A peer that was silent for quietFor is asked whether it is there, and has to say
// so within answersIn: so one that is gone is noticed within ten seconds, on both
// sides, however long a model thinks.
const (
	quietFor  = 4 * time.Second
	answersIn = 4 * time.Second
)

// Server returns a server for a [Handler]. It speaks HTTP/2, over TLS if it is
// served with a certificate.
func Server(h http.Handler) *http.Server { return server(h, quietFor, answersIn) }

// Transport returns how a [Client] reaches a [Server], for who has to change how
// certificates are checked.
func Transport() *http.Transport { return transport(quietFor, answersIn) }

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

// onlyHTTP2 is the protocol that has pings of its own. With the other one nobody
// would notice that a peer is gone while a model thinks.
func onlyHTTP2() *http.Protocols {
	var p http.Protocols
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return &p
}

// unavailable is a failure of the way to the models. It says nothing of them, so
// the call can be made again.
func unavailable(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, pawl.ErrUnavailable)...)
}
