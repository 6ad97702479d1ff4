package serve

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
)

// presence decides how long asks wait while no client is connected.
type presence struct {
	app    atomic.Pointer[app.App]
	server atomic.Pointer[httpapi.Server]
	log    *slog.Logger
}

// open begins to look for clients.
func (a *presence) open(opened *app.App, s *httpapi.Server) {
	a.app.Store(opened)
	a.server.Store(s)
}

// unattended reports whether nobody who could answer has been connected since a time, for as long as the
// configuration says.
func (a *presence) unattended(since time.Time) bool {
	opened := a.app.Load()
	if opened == nil {
		return false
	}
	user, err := opened.Policy.User()
	if err != nil {
		a.log.Error("the configuration cannot be read: permission prompts stay open", "error", err)
		return false
	}
	limit, err := user.Permissions.AskWait()
	if err != nil || limit == 0 {
		return false
	}
	if s := a.server.Load(); s != nil {
		if seen := s.LastSeen(); seen.After(since) {
			since = seen
		}
	}
	return time.Since(since) >= limit
}
