package httpapi

import (
	_ "embed" // for the script
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access/passkey"
)

// The paths of sign-ins with a passkey.
const (
	scriptPath         = signInPath + ".js"
	passkeyPath        = signInPath + "/passkey"
	passkeyOptionsPath = passkeyPath + "/options"
)

// maxCredential is the maximum size of what a browser sends about a passkey, in bytes.
const maxCredential = 16 << 10

//go:embed signin.js
var signInScript []byte

var errNoPasskeys = fault.New(pawl.ErrInvalid, "passkeys need an address with a host name and TLS, or localhost").
	Hint("Give the server the address that browsers use, with --url.")

// site returns the server as browsers know it, or an error if they cannot use passkeys there:
// they need a host name, and TLS unless it is the own machine.
func (s *Server) site(r *http.Request) (passkey.Site, error) {
	base := s.base(r)
	u, err := url.Parse(base)
	if err != nil || s.Devices == nil || s.Hosts == nil && s.URL == "" {
		return passkey.Site{}, errNoPasskeys
	}
	host := u.Hostname()
	if host == "" || net.ParseIP(host) != nil || u.Scheme != "https" && host != "localhost" {
		return passkey.Site{}, errNoPasskeys
	}
	return passkey.Site{Host: host, Origin: base}, nil
}

func createPasskeyOptions(_ *response, r *request) (any, error) {
	site, err := r.server.site(r.Request)
	if err != nil {
		return nil, err
	}
	options, err := r.server.Devices.PasskeyOptions(r.Context(), r.principal, site)
	return api.PasskeyOptions{PublicKey: options}, err
}

func createPasskey(w *response, r *request) (any, error) {
	in, err := decode[api.NewPasskey](w, r)
	if err != nil {
		return nil, err
	}
	site, err := r.server.site(r.Request)
	if err != nil {
		return nil, err
	}
	d, err := r.server.Devices.AddPasskey(r.Context(), r.principal, site, in)
	if err == nil {
		r.server.Log.Info("passkey added", "passkey", d.ID, "name", d.Name, "user", d.User, "from", remoteHost(r.Request))
	}
	return d, err
}

// showScript writes the script of the sign-in page.
func (s *Server) showScript(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(signInScript) // the client may have disconnected
}

// passkeyOptions returns the options with which the sign-in page asks for a passkey.
func (s *Server) passkeyOptions(w http.ResponseWriter, r *http.Request) {
	site, err := s.ownSite(r)
	var options json.RawMessage
	if err == nil {
		options, err = s.Devices.SignInOptions(site)
	}
	if err != nil {
		s.writeError(w.(*response), r, err) //nolint:forcetypeassert // ServeHTTP makes it one
		return
	}
	writeJSON(w, http.StatusOK, api.PasskeyOptions{PublicKey: options})
}

// signInPasskey exchanges the response of an authenticator for a cookie.
func (s *Server) signInPasskey(w http.ResponseWriter, r *http.Request) {
	site, err := s.ownSite(r)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxCredential))
	}
	var secret string
	var d api.Device
	if err == nil {
		secret, d, err = s.Devices.SignIn(r.Context(), site, body, remoteHost(r))
	}
	if err != nil {
		s.Log.Warn("sign-in failed", "from", remoteHost(r), "error", err)
		s.writeError(w.(*response), r, err) //nolint:forcetypeassert // ServeHTTP makes it one
		return
	}
	http.SetCookie(w, s.cookie(r, secret, d))
	s.Log.Info("device signed in with a passkey", "device", d.ID, "name", d.Name, "user", d.User, "from", remoteHost(r))
	w.WriteHeader(http.StatusNoContent)
}

// ownSite returns the site of a request that one of the pages sent.
func (s *Server) ownSite(r *http.Request) (passkey.Site, error) {
	switch from, err := s.checkSource(r); {
	case err != nil:
		return passkey.Site{}, err
	case from != fromOwnPage:
		return passkey.Site{}, errForeignPage
	}
	return s.site(r)
}
