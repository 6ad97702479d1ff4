package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// request is an authenticated request.
type request struct {
	*http.Request
	server    *Server
	route     api.Route
	principal api.Principal
	service   pawl.Service
	id        pawl.SessionID // from the path; "" if it has none
	query     url.Values
}

// handlerFunc handles a request and returns the response value or an error. A handler
// that has written the response itself returns errWritten.
type handlerFunc func(w *response, r *request) (any, error)

var errWritten = errors.New("the response is already written")

// serve wraps a route's handler with authentication, checks and encoding.
func (s *Server) serve(route api.Route, do handlerFunc) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*response) //nolint:forcetypeassert // ServeHTTP makes it one
		out, err := s.handle(w, r, route, do)
		switch {
		case errors.Is(err, errWritten):
		case err != nil:
			s.writeError(w, r, err)
		case route.OutForm == api.FormNone:
			w.WriteHeader(route.Status)
		default:
			writeJSON(w, route.Status, out)
		}
	})
}

// startsWork lists the routes that start work. They are rejected while the server
// drains; running work can still be answered and canceled.
var startsWork = map[string]bool{
	"createSession": true, "startMission": true, "importSession": true, "sendPrompt": true, "resumeSession": true,
	"compactSession": true, "undoSession": true, "forkSession": true, "runCommand": true,
	"approveMission": true, "resumeMission": true,
}

func (s *Server) handle(w *response, r *http.Request, route api.Route, do handlerFunc) (any, error) {
	principal, err := s.authenticate(r, route.Scope)
	if err != nil {
		return nil, err
	}
	s.seen(principal)
	if s.draining.Load() && startsWork[route.Name] {
		return nil, errDraining
	}
	if err := checkBody(route, r); err != nil {
		return nil, err
	}
	query, err := readQuery(route, r)
	if err != nil {
		return nil, err
	}
	id := pawl.SessionID(r.PathValue("id"))
	if id != "" && !id.Valid() {
		return nil, fault.New(pawl.ErrNotFound, "session not found")
	}
	if r.ContentLength > route.MaxBody {
		return nil, tooLarge(route.MaxBody)
	}
	body, err := s.bodyCounts.countBody(principal, http.MaxBytesReader(w, r.Body, route.MaxBody), r.ContentLength)
	if err != nil {
		return nil, err
	}
	defer body.done()
	r.Body = body
	if route.OutForm == api.FormStream && s.Devices != nil {
		ctx, stop := s.Devices.Watch(r.Context(), principal)
		defer stop()
		r = r.WithContext(ctx)
	}
	in := &request{Request: r, server: s, route: route, principal: principal, service: s.Service(principal), id: id, query: query}
	if err := in.checkSessionDir(); err != nil {
		return nil, err
	}
	return do(w, in)
}

// readQuery rejects unknown parameters: a misspelled filter must not return more than
// was asked for.
func readQuery(route api.Route, r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "invalid query string")
	}
	for name, all := range values {
		known := slices.ContainsFunc(route.Query, func(p api.Param) bool { return p.Name == name })
		if !known || len(all) != 1 {
			return nil, fault.New(pawl.ErrInvalid, "%s does not accept the parameter %q, or accepts it only once", route.Name, name)
		}
	}
	return values, nil
}

// decode decodes the body of a request.
func decode[T any](w *response, r *request) (T, error) {
	var v T
	text := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	if _, err := text.ReadFrom(r.Body); err != nil {
		return v, bodyError(err) // the deadline stays: net/http reads the rest
	}
	setReadTimeout(w, 0)
	if err := strictjson.Decode(text.Bytes(), &v); err != nil {
		return v, fault.New(pawl.ErrInvalid, "invalid body: %w", err)
	}
	return v, nil
}

// setReadTimeout bounds how long the body may take; 0 removes the bound, which would
// otherwise cut off later reads that detect a disconnect.
func setReadTimeout(w *response, limit time.Duration) {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	_ = http.NewResponseController(w).SetReadDeadline(until) // fails only if the connection has ended
}

// bodyError explains why a body could not be read.
func bodyError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return tooLarge(large.Limit)
	}
	if errors.Is(err, api.ErrLimited) {
		return err
	}
	return fault.New(pawl.ErrInvalid, "incomplete body: %w", err)
}

func tooLarge(limit int64) error {
	return fault.New(api.ErrTooLarge, "the body is larger than %d bytes", limit)
}

// pathSeq parses the event number in the path.
func (r *request) pathSeq() (pawl.Seq, error) { return parseSeq(r.PathValue("seq")) }

func parseSeq(text string) (pawl.Seq, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fault.New(pawl.ErrInvalid, "%.40q is not an event number", text)
	}
	return pawl.Seq(n), nil
}

// afterSeq returns the event after which the client wants events.
func (r *request) afterSeq() (pawl.Seq, error) {
	text := r.query.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		text = last
	}
	if text == "" {
		return 0, nil
	}
	return parseSeq(text)
}

func (r *request) time(name string) (time.Time, error) {
	text := r.query.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, fault.New(pawl.ErrInvalid, "%s must be a time such as 2006-01-02T15:04:05Z", name)
	}
	return at, nil
}

// writeError writes an error response.
func (s *Server) writeError(w *response, r *http.Request, err error) {
	fault, status := api.FaultOf(err)
	fault.Error.Request = w.id
	if status == http.StatusInternalServerError && r.Context().Err() == nil {
		s.Log.Error("request failed", "id", w.id, "error", err)
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="pawl"`)
	}
	if errors.Is(err, api.ErrLimited) || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(api.RetryAfter(err)))
	}
	writeJSON(w, status, fault)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the response could not be encoded"}}`)
	}
	w.Header().Set("Content-Type", string(api.FormJSON))
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have disconnected
}

// marshal is json.Marshal without escaping <, > and &, which are frequent in code.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
