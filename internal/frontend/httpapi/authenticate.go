package httpapi

import (
	"errors"
	"net/http"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// authenticate returns the principal of a request if it has the needed scope.
func (s *Server) authenticate(r *http.Request, needed api.Scope) (api.Principal, error) {
	p, err := s.principal(r)
	switch {
	case errors.Is(err, api.ErrLimited), errors.Is(err, pawl.ErrUnavailable), errors.Is(err, pawl.ErrDenied):
		return p, err
	case err != nil:
		return p, fault.New(api.ErrUnauthorized, "a valid token is required")
	case !p.Scope.Covers(needed):
		return p, fault.New(pawl.ErrDenied, "the token needs the scope %q", needed)
	}
	return p, nil
}

// requireScope wraps a handler that has no route: it requires the scope.
func (s *Server) requireScope(scope api.Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := s.authenticate(r, scope); err != nil {
			s.writeError(w.(*response), r, err) //nolint:forcetypeassert // ServeHTTP makes it one
			return
		}
		next.ServeHTTP(w, r)
	})
}
