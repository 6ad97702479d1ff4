package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// missionHandlers maps the routes of missions to their handlers.
var missionHandlers = map[string]handlerFunc{
	"streamMission":    streamMission,
	"getMissionReport": getMissionReport,
	"getMissionGate": func(_ *response, r *request) (any, error) {
		return r.server.Missions.Gate(r.Context(), r.service, r.id)
	},
	"getMissionPlan": func(_ *response, r *request) (any, error) {
		return r.server.Missions.Plan(r.Context(), r.service, r.id)
	},
	"setMissionPlan": func(w *response, r *request) (any, error) {
		in, err := decode[api.PlanEdit](w, r)
		if err != nil {
			return nil, err
		}
		if err := r.requireOwner(); err != nil {
			return nil, err
		}
		return r.server.Missions.SetPlan(r.Context(), r.service, r.id, in)
	},
	"approveMission": func(w *response, r *request) (any, error) {
		in, err := decode[api.PlanApproval](w, r)
		if err != nil {
			return nil, err
		}
		seq, err := r.server.Missions.Approve(r.Context(), r.service, r.id, in)
		return api.Accepted{Seq: seq}, err
	},
	"pauseMission": func(_ *response, r *request) (any, error) {
		return nil, r.server.Missions.Pause(r.Context(), r.service, r.id)
	},
	"stopMission": func(_ *response, r *request) (any, error) {
		return nil, r.server.Missions.Stop(r.Context(), r.service, r.id)
	},
	"resumeMission": func(w *response, r *request) (any, error) {
		in, err := decode[api.MissionResume](w, r)
		if err != nil {
			return nil, err
		}
		return nil, r.server.Missions.Resume(r.Context(), r.service, r.id, in)
	},
}

// requireOwner returns an error unless the session belongs to the principal: one who
// may only read it may not change its files.
func (r *request) requireOwner() error {
	s, err := r.service.Get(r.Context(), r.id)
	if err == nil && r.principal.User != "" && s.Owner != r.principal.User {
		err = fault.New(pawl.ErrDenied, "only the owner of mission %s can edit its plan", r.id)
	}
	return err
}

// reportPolicy is the content security policy of a report: its own style sheet applies,
// and nothing runs, loads or can be sent.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

// getMissionReport writes the report of a mission. It contains texts of models.
func getMissionReport(w *response, r *request) (any, error) {
	format := cmp.Or(r.query.Get("format"), "json")
	form, ok := api.ReportFormats[format]
	if !ok {
		return nil, fault.New(pawl.ErrInvalid, "unknown format %.40q: use json, html, markdown or intoto", format)
	}
	text, err := r.server.Missions.Report(r.Context(), r.service, r.id, format)
	if err != nil {
		return nil, err
	}
	kind := string(form)
	if form == api.FormHTML || form == api.FormMarkdown {
		kind += "; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(text) // the client may have disconnected
	return nil, errWritten
}

// Intervals of a mission's stream.
const (
	boardPause    = 500 * time.Millisecond // between two messages: events come in bursts
	boardInterval = 2 * time.Second        // while the mission works: what workers spend is not in its log
)

// streamMission streams the board of a mission, whole after each change.
func streamMission(w *response, r *request) (any, error) {
	b, err := r.service.Mission(r.Context(), r.id)
	if err != nil {
		return nil, err
	}
	out, done, err := openStream(w, r)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithCancel(r.Context())
	events := read(ctx, r, b.Session.Head)
	s := &boardStream{sse: out, r: r}
	if err := s.follow(ctx, b, events); err != nil && ctx.Err() == nil {
		out.fail(err)
		_ = out.flush() // the client may have disconnected
	}
	cancel()
	for range events { // wait until the reader has released the store
	}
	return nil, errWritten
}

// boardStream sends the board of a mission.
type boardStream struct {
	*sse
	r    *request
	last []byte // the board that was sent
}

// follow sends the board after each change until the client disconnects or the server closes.
func (s *boardStream) follow(ctx context.Context, b pawl.Board, events <-chan item) error {
	heartbeat, tick := time.NewTicker(s.r.server.Heartbeat), time.NewTicker(boardInterval)
	defer heartbeat.Stop()
	defer tick.Stop()
	for {
		if err := s.send(ctx, b); err != nil {
			return err
		}
		changed := false
		for !changed {
			select {
			case e, ok := <-events:
				if !ok || e.err != nil {
					return e.err
				}
				changed = e.event.Seq > 0
			case <-tick.C:
				changed = b.State == pawl.MissionWorking
			case <-heartbeat.C:
				if err := s.keepAlive(); err != nil {
					return err
				}
			case <-s.r.server.closing:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
		if err := drain(ctx, s.r.server, events); err != nil {
			return err
		}
		var err error
		if b, err = s.r.service.Mission(ctx, s.r.id); err != nil {
			return err
		}
	}
}

// drain takes the events of a burst, for the time of boardPause.
func drain(ctx context.Context, s *Server, events <-chan item) error {
	end := time.NewTimer(boardPause)
	defer end.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok || e.err != nil {
				return e.err
			}
		case <-end.C:
			return nil
		case <-s.closing:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends the board, unless it is the one that the client has.
func (s *boardStream) send(ctx context.Context, b pawl.Board) error {
	text, err := marshal(b)
	if err != nil || bytes.Equal(text, s.last) || ctx.Err() != nil { // a revoked token gets no more
		return err
	}
	s.last = text
	s.data(text)
	return s.flush()
}
