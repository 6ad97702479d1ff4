package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access/passkey"
)

// The paths of the pages.
const (
	signInPath  = "/signin"
	signOutPath = "/signout"
)

// maxForm is the maximum size of a form, in bytes.
const maxForm = 4 << 10

//go:embed signin.html
var signInHTML string

var signInPage = template.Must(template.New("signin").Parse(signInHTML))

// pagePolicy is the content security policy of the pages: no script, one style sheet, and
// forms for this server only.
var pagePolicy = "default-src 'none'; style-src '" + styleHash(signInHTML) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// passkeyPolicy is added where browsers can use passkeys. It names the one script with its
// whole address, so that no other response of the server can be loaded as one.
func passkeyPolicy(site passkey.Site) string {
	return "; script-src " + site.Origin + scriptPath + "; connect-src " + site.Origin
}

// styleHash returns the source expression that allows the style sheet of a page.
func styleHash(page string) string {
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is what the sign-in page shows.
type page struct {
	Link   string // the secret of a link, to sign in with
	Device bool   // the browser is signed in
	User   pawl.User
	Scope  api.Scope
	Error  string

	Passkeys bool // browsers can use passkeys here
}

// servePages adds the pages to the mux.
func (s *Server) servePages() {
	if s.Devices == nil {
		return
	}
	s.mux.HandleFunc("GET "+signInPath, s.showSignIn)
	s.mux.HandleFunc("POST "+signInPath, s.signIn)
	s.mux.HandleFunc("POST "+signOutPath, s.signOut)
	s.mux.HandleFunc("GET "+scriptPath, s.showScript)
	s.mux.HandleFunc("POST "+passkeyOptionsPath, s.passkeyOptions)
	s.mux.HandleFunc("POST "+passkeyPath, s.signInPasskey)
}

// showSignIn shows a button that signs the browser in. It changes nothing and does not
// look the link up, so programs that fetch links for a preview do not use it up.
func (s *Server) showSignIn(w http.ResponseWriter, r *http.Request) {
	if link := r.URL.Query().Get("link"); link != "" {
		s.writePage(w, r, http.StatusOK, page{Link: link})
		return
	}
	p, err := s.authenticate(r, api.ScopeRead)
	s.writePage(w, r, http.StatusOK, page{Device: err == nil && p.Device, User: p.User, Scope: p.Scope})
}

// signIn exchanges a link for a cookie.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if err := s.checkForm(w, r); err != nil {
		s.writeErrorPage(w, r, err)
		return
	}
	secret, d, err := s.Devices.Redeem(r.Context(), r.PostForm.Get("link"), remoteHost(r))
	if err != nil {
		s.Log.Warn("sign-in failed", "from", remoteHost(r), "error", err)
		s.writeErrorPage(w, r, err)
		return
	}
	http.SetCookie(w, s.cookie(r, secret, d))
	s.Log.Info("device signed in", "device", d.ID, "name", d.Name, "user", d.User, "from", remoteHost(r))
	http.Redirect(w, r, signInPath, http.StatusSeeOther)
}

// signOut revokes the device that the request comes from.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	err := s.checkForm(w, r)
	var p api.Principal
	if err == nil {
		p, err = s.authenticate(r, api.ScopeRead)
	}
	if err == nil && !p.Device {
		err = fault.New(pawl.ErrInvalid, "this browser is not signed in")
	}
	if err == nil {
		err = s.Devices.RevokeDevice(r.Context(), p, p.Token)
	}
	if err != nil {
		s.writeErrorPage(w, r, err)
		return
	}
	http.SetCookie(w, s.cookie(r, "", api.Device{}))
	http.Redirect(w, r, signInPath, http.StatusSeeOther)
}

var errForeignPage = fault.New(pawl.ErrDenied, "the request must come from a page of this server")

// checkForm reads a form that one of the pages sent.
func (s *Server) checkForm(w http.ResponseWriter, r *http.Request) error {
	switch from, err := s.checkSource(r); {
	case err != nil:
		return err
	case from != fromOwnPage:
		return errForeignPage
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return fault.New(pawl.ErrInvalid, "invalid form: %w", err)
	}
	return nil
}

// writeErrorPage shows an error to a person.
func (s *Server) writeErrorPage(w http.ResponseWriter, r *http.Request, err error) {
	body, status := api.FaultOf(err)
	s.writePage(w, r, status, page{Error: body.Error.Message})
}

// writePage writes a page. Its referrer policy differs from that of other responses:
// with no-referrer, browsers would send its forms without their origin. The link goes to
// no other site, as the page has neither links nor anything to load.
func (s *Server) writePage(w http.ResponseWriter, r *http.Request, status int, p page) {
	policy := pagePolicy
	if site, err := s.site(r); err == nil {
		policy += passkeyPolicy(site)
		p.Passkeys = true
	}
	var text bytes.Buffer
	if err := signInPage.Execute(&text, p); err != nil {
		status = http.StatusInternalServerError
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the client may have disconnected
}
