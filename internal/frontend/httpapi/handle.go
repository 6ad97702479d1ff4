package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/weak"
)

// asked is a request that was let in.
type asked struct {
	*http.Request
	server  *Server
	route   api.Route
	who     api.Principal
	service pawl.Service
	id      pawl.SessionID // of the path; "" if it has none
	query   url.Values
}

// handler answers a request: with a value, or an error. One that has written the
// answer itself returns errDone.
type handler func(w *response, r *asked) (any, error)

var errDone = errors.New("it is answered")

// serve puts a handler behind the guard.
func (s *Server) serve(route api.Route, do handler) http.Handler {
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		w := plain.(*response) //nolint:forcetypeassert // ServeHTTP makes it one
		out, err := s.answer(w, r, route, do)
		switch {
		case errors.Is(err, errDone):
		case err != nil:
			s.fail(w, r, err)
		case route.OutForm == api.FormNone:
			w.WriteHeader(route.Status)
		default:
			writeJSON(w, route.Status, out)
		}
	})
}

// begins are the routes by which work begins. What is under way when the server
// is about to end can still be answered and canceled.
var begins = map[string]bool{
	"createSession": true, "startMission": true, "importSession": true, "sendPrompt": true, "resumeSession": true,
	"compactSession": true, "revertSession": true, "forkSession": true, "runCommand": true,
}

func (s *Server) answer(w *response, r *http.Request, route api.Route, do handler) (any, error) {
	who, err := s.who(r, route.Scope)
	if err != nil {
		return nil, err
	}
	if s.draining.Load() && begins[route.Name] {
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
		return nil, fmt.Errorf("there is no session of this id: %w", pawl.ErrNotFound)
	}
	r.Body = http.MaxBytesReader(w, r.Body, route.MaxBody)
	in := &asked{Request: r, server: s, route: route, who: who, service: s.Service(who), id: id, query: query}
	if err := in.mayGoOn(); err != nil {
		return nil, err
	}
	return do(w, in)
}

// readQuery refuses what the route does not know: a slip in a filter must not
// show more than was asked for.
func readQuery(route api.Route, r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("the query cannot be read: %w", pawl.ErrInvalid)
	}
	for name, all := range values {
		known := slices.ContainsFunc(route.Query, func(p api.Param) bool { return p.Name == name })
		if !known || len(all) != 1 {
			return nil, fmt.Errorf("%s does not take %q, or not so often: %w", route.Name, name, pawl.ErrInvalid)
		}
	}
	return values, nil
}

// decode reads the body of a request.
func decode[T any](w *response, r *asked) (T, error) {
	var v T
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return v, bodyFault(err) // the bound stays: net/http reads on
	}
	within(w, 0)
	read := pawl.Decode
	if weak.On("server.json") {
		read = json.Unmarshal
	}
	if err := read(text, &v); err != nil {
		return v, fmt.Errorf("the body is wrong: %w: %w", err, pawl.ErrInvalid)
	}
	return v, nil
}

// within bounds how long a body may take to come; 0 lifts the bound, without
// which the wait for the client's end would be cut off by it.
func within(w *response, limit time.Duration) {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	_ = http.NewResponseController(w).SetReadDeadline(until) // a connection that cannot be bounded has ended
}

// bodyFault says why a body could not be read.
func bodyFault(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return fmt.Errorf("the body has more than %d bytes: %w", large.Limit, pawl.ErrInvalid)
	}
	return fmt.Errorf("the body did not come whole: %w: %w", err, pawl.ErrInvalid)
}

// seq reads a number of the path.
func (r *asked) seq() (pawl.Seq, error) { return parseSeq(r.PathValue("seq")) }

func parseSeq(text string) (pawl.Seq, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is no number of an event: %w", text, pawl.ErrInvalid)
	}
	return pawl.Seq(n), nil
}

// after reads from where on events are wanted.
func (r *asked) after() (pawl.Seq, error) {
	text := r.query.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		text = last
	}
	if text == "" {
		return 0, nil
	}
	return parseSeq(text)
}

func (r *asked) time(name string) (time.Time, error) {
	text := r.query.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, fmt.Errorf("%s is no time like 2006-01-02T15:04:05Z: %w", name, pawl.ErrInvalid)
	}
	return at, nil
}

// fail tells an error.
func (s *Server) fail(w *response, r *http.Request, err error) {
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
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	w.Header().Set("Content-Type", string(api.FormJSON))
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone does not matter
}

// marshal is json.Marshal without the escaping of <, > and &, which code is full of.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
