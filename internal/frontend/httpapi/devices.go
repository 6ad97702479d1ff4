package httpapi

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access/passkey"
)

// Devices signs browsers in and out.
type Devices interface {
	// NewLink returns the secret of a link, and the device that it signs in. Its
	// expiry is that of the link.
	NewLink(ctx context.Context, p api.Principal, n api.NewLink) (secret string, d api.Device, err error)

	// Redeem returns the secret of the device that a link signs in. From is the
	// address of the browser.
	Redeem(ctx context.Context, link, from string) (secret string, d api.Device, err error)

	AuthDevice(ctx context.Context, secret string) (api.Principal, error)
	Devices(ctx context.Context, p api.Principal) (api.Devices, error)
	RevokeDevice(ctx context.Context, p api.Principal, id string) error

	// PasskeyOptions returns the options with which the browser of the principal creates
	// a passkey, and AddPasskey stores it.
	PasskeyOptions(ctx context.Context, p api.Principal, site passkey.Site) (json.RawMessage, error)
	AddPasskey(ctx context.Context, p api.Principal, site passkey.Site, n api.NewPasskey) (api.Device, error)

	// SignInOptions returns the options with which a browser asks for a passkey, and
	// SignIn the secret of the device that its response signs in.
	SignInOptions(site passkey.Site) (json.RawMessage, error)
	SignIn(ctx context.Context, site passkey.Site, response []byte, from string) (secret string, d api.Device, err error)

	// Watch returns a context that ends when the token of the principal is revoked.
	Watch(ctx context.Context, p api.Principal) (_ context.Context, stop func())
}

// principal returns who sent a request: the owner of its token, or of the device whose
// cookie it has. A request with both is rejected, because it is not clear for whom it is.
func (s *Server) principal(r *http.Request) (api.Principal, error) {
	cookies := r.CookiesNamed(s.cookieName(r))
	if s.Devices == nil || len(cookies) == 0 {
		return s.Auth(r)
	}
	if err := s.checkCookie(r, len(cookies)); err != nil {
		return api.Principal{}, err
	}
	return s.Devices.AuthDevice(r.Context(), cookies[0].Value)
}

// checkCookie rejects requests that a page of another origin may have sent with the
// browser's cookie. A request that changes something must come from an own page.
func (s *Server) checkCookie(r *http.Request, cookies int) error {
	from, err := s.checkSource(r)
	switch {
	case err != nil:
		return err
	case cookies > 1:
		return fault.New(pawl.ErrDenied, "the request has more than one cookie of this server")
	case len(r.Header.Values("Authorization")) > 0:
		return fault.New(pawl.ErrDenied, "the request has a cookie and a token: send one of them")
	case from == fromListedPage:
		return fault.New(pawl.ErrDenied, "pages of other origins need a token")
	case from != fromOwnPage && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return fault.New(pawl.ErrDenied, "a request with a cookie must come from a page of this server")
	}
	return nil
}

// secure reports whether browsers reach the server with TLS.
func (s *Server) secure(r *http.Request) bool {
	u, err := url.Parse(s.base(r))
	return err == nil && u.Scheme == "https"
}

// cookieName returns the name of the cookie. It has the port, because browsers send
// cookies to all ports of a host, and several servers may run there. With TLS, the prefix
// makes browsers reject such a cookie from other hosts and from pages without TLS.
func (s *Server) cookieName(r *http.Request) string {
	name := "pawl"
	if u, err := url.Parse(s.base(r)); err == nil && u.Port() != "" {
		name += "-" + u.Port()
	}
	if s.secure(r) {
		return "__Host-" + name
	}
	return name
}

// cookie returns the cookie with the secret of a device. An empty secret removes it.
func (s *Server) cookie(r *http.Request, secret string, d api.Device) *http.Cookie {
	c := &http.Cookie{
		Name: s.cookieName(r), Value: secret, Path: "/", Expires: d.Expires, Secure: s.secure(r), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

// remoteHost returns the address that a request comes from, without its port.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

var errNoDevices = fault.New(pawl.ErrInvalid, "browsers cannot sign in to this server: it has no address that they can reach")

func createLink(w *response, r *request) (any, error) {
	in, err := decode[api.NewLink](w, r)
	if err != nil {
		return nil, err
	}
	s := r.server
	if s.Devices == nil || s.Hosts == nil && s.URL == "" {
		return nil, errNoDevices
	}
	secret, d, err := s.Devices.NewLink(r.Context(), r.principal, in)
	return api.Link{ID: d.ID, URL: LinkURL(s.base(r.Request), secret), Expires: d.Expires}, err
}

// LinkURL returns the link with a secret, for a server with the given URL.
func LinkURL(base, secret string) string {
	return base + signInPath + "?link=" + url.QueryEscape(secret)
}

func listDevices(_ *response, r *request) (any, error) {
	if r.server.Devices == nil {
		return api.Devices{Devices: []api.Device{}, Passkeys: []api.Device{}}, nil
	}
	return r.server.Devices.Devices(r.Context(), r.principal)
}

func revokeDevice(_ *response, r *request) (any, error) {
	if r.server.Devices == nil {
		return nil, errNoDevices
	}
	return nil, r.server.Devices.RevokeDevice(r.Context(), r.principal, r.PathValue("device"))
}
