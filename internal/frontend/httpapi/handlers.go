package httpapi

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/weak"
)

// handlers answer the routes, by their names.
var handlers = map[string]handler{
	"createSession": func(w *response, r *asked) (any, error) {
		in, err := decode[api.NewSession](w, r)
		if err != nil {
			return nil, err
		}
		dir, err := r.folderOf(&in)
		if err != nil {
			return nil, err
		}
		return r.service.Create(r.Context(), pawl.NewSession{ID: in.ID, Owner: in.Owner, Dir: dir, Source: in.Source, Title: in.Title, Parent: in.Parent, ParentCall: in.Call})
	},
	"listSessions": func(_ *response, r *asked) (any, error) {
		f, err := r.filter()
		if err != nil {
			return nil, err
		}
		list, err := r.service.List(r.Context(), f)
		return api.Sessions{Sessions: orEmpty(list)}, err
	},
	"getSession": func(_ *response, r *asked) (any, error) { return r.service.Get(r.Context(), r.id) },
	"renameSession": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Title](w, r)
		if err != nil {
			return nil, err
		}
		return nil, r.service.Rename(r.Context(), r.id, in.Title)
	},
	"shareSession": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Shared](w, r)
		if err != nil {
			return nil, err
		}
		return nil, r.service.Share(r.Context(), r.id, in.With)
	},
	"deleteSession": func(_ *response, r *asked) (any, error) { return nil, r.service.Delete(r.Context(), r.id) },
	"importSession": importSession,
	"exportSession": exportSession,
	"streamEvents":  streamEvents,
	"getDraft":      func(_ *response, r *asked) (any, error) { return r.service.Draft(r.Context(), r.id) },
	"sendPrompt": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Prompt](w, r)
		if err != nil {
			return nil, err
		}
		if err := r.mayWorkBy(in.Settings); err != nil {
			return nil, err
		}
		seq, err := r.service.Send(r.Context(), r.id, pawl.Prompt{Parts: in.Parts, Delivery: in.Delivery, Settings: in.Settings})
		return api.Accepted{Seq: seq}, err
	},
	"listPrompts": func(_ *response, r *asked) (any, error) {
		waiting, err := r.service.Waiting(r.Context(), r.id)
		list := api.WaitingList{Prompts: []api.Waiting{}}
		for _, w := range waiting {
			list.Prompts = append(list.Prompts, api.Waiting{Seq: w.Seq, Prompt: w.Prompt})
		}
		return list, err
	},
	"rewordPrompt": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Parts](w, r)
		if err != nil {
			return nil, err
		}
		return nil, r.withSeq(func(seq pawl.Seq) error { return r.service.Reword(r.Context(), r.id, seq, in.Parts) })
	},
	"withdrawPrompt": func(_ *response, r *asked) (any, error) {
		return nil, r.withSeq(func(seq pawl.Seq) error { return r.service.Withdraw(r.Context(), r.id, seq) })
	},
	"answer": func(w *response, r *asked) (any, error) {
		in, err := decode[pawl.Answer](w, r)
		if err != nil {
			return nil, err
		}
		if len(in.Always) > 0 && !r.who.Scope.Covers(api.ScopeAdmin) && !weak.On("server.always") {
			return nil, fmt.Errorf("to permit something for good needs the scope %q: permit it once: %w", api.ScopeAdmin, pawl.ErrDenied)
		}
		return nil, r.withSeq(func(seq pawl.Seq) error { return r.service.Answer(r.Context(), r.id, seq, in) })
	},
	"cancelSession": func(_ *response, r *asked) (any, error) { return nil, r.service.Cancel(r.Context(), r.id) },
	"resumeSession": func(_ *response, r *asked) (any, error) { return nil, r.service.Resume(r.Context(), r.id) },
	"compactSession": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Instructions](w, r)
		if err != nil {
			return nil, err
		}
		seq, err := r.service.Compact(r.Context(), r.id, in.Instructions)
		return api.Accepted{Seq: seq}, err
	},
	"runCommand": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Shell](w, r)
		if err != nil {
			return nil, err
		}
		seq, err := r.service.Shell(r.Context(), r.id, in.Command)
		return api.Accepted{Seq: seq}, err
	},
	"previewRevert": func(w *response, r *asked) (any, error) {
		in, err := decode[pawl.Revert](w, r)
		if err != nil {
			return nil, err
		}
		return r.service.Preview(r.Context(), r.id, in)
	},
	"revertSession": func(w *response, r *asked) (any, error) {
		in, err := decode[pawl.Revert](w, r)
		if err != nil {
			return nil, err
		}
		seq, err := r.service.Revert(r.Context(), r.id, in)
		return api.Accepted{Seq: seq}, err
	},
	"forkSession": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Fork](w, r)
		if err != nil {
			return nil, err
		}
		return r.service.Fork(r.Context(), r.id, in.At)
	},
	"startMission": startMission,
	"getMission":   func(_ *response, r *asked) (any, error) { return r.service.Mission(r.Context(), r.id) },
	"getUsage": func(_ *response, r *asked) (any, error) {
		since, err := r.time("since")
		if err != nil {
			return nil, err
		}
		f := pawl.UsageFilter{Since: since, Session: pawl.SessionID(r.query.Get("session")), Dir: r.query.Get("dir"), Owner: r.owner()}
		rows, err := r.service.Usage(r.Context(), f)
		return api.Usage{Rows: orEmpty(rows)}, err
	},
	"lookAtFolder": func(_ *response, r *asked) (any, error) {
		dir, err := r.mayWorkIn(r.query.Get("dir"))
		if err != nil {
			return nil, err
		}
		return r.service.Look(r.Context(), dir)
	},
	"trustFolder": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Trust](w, r)
		if err != nil {
			return nil, err
		}
		dir, err := r.mayWorkIn(in.Dir)
		if err != nil {
			return nil, err
		}
		return nil, r.service.Trust(r.Context(), dir, in.Hash)
	},
	"findFiles": func(_ *response, r *asked) (any, error) {
		dir, err := r.mayWorkIn(r.query.Get("dir"))
		if err != nil {
			return nil, err
		}
		limit, err := r.limit()
		if err != nil {
			return nil, err
		}
		files, err := r.service.Files(r.Context(), dir, r.query.Get("query"), limit)
		return api.Files{Files: orEmpty(files)}, err
	},
	"expandPrompt": func(w *response, r *asked) (any, error) {
		in, err := decode[api.Expand](w, r)
		if err != nil {
			return nil, err
		}
		dir, err := r.mayWorkIn(in.Dir)
		if err == nil {
			err = r.mayWorkBy(in.Prompt.Settings)
		}
		if err != nil {
			return nil, err
		}
		p, notes, err := r.service.Expand(r.Context(), dir, pawl.Prompt{Parts: in.Prompt.Parts, Delivery: in.Prompt.Delivery, Settings: in.Prompt.Settings})
		return api.Expanded{Prompt: api.Prompt{Parts: p.Parts, Delivery: p.Delivery, Settings: p.Settings}, Notes: orEmpty(notes)}, err
	},
	"listModels": func(_ *response, r *asked) (any, error) {
		models, err := r.service.Models(r.Context())
		return api.Models{Models: orEmpty(models)}, err
	},
	"getOutput":  getOutput,
	"getOpenAPI": func(*response, *asked) (any, error) { return api.OpenAPI() },
}

// startMission begins a mission. The checks that it is proven by run without
// asking, so those that reach the network are for the one who runs the server.
func startMission(w *response, r *asked) (any, error) {
	in, err := decode[pawl.NewMission](w, r)
	if err != nil {
		return nil, err
	}
	if in.Dir, err = r.mayWorkIn(in.Dir); err != nil {
		return nil, err
	}
	if err := r.mayWorkBy(in.Settings); err != nil {
		return nil, err
	}
	if err := r.mayCheckBy(in.Order.Checks); err != nil {
		return nil, err
	}
	return r.service.StartMission(r.Context(), in)
}

// mayCheckBy refuses checks by which a request would reach the network unasked.
func (r *asked) mayCheckBy(checks []pawl.Check) error {
	reaches := slices.ContainsFunc(checks, func(c pawl.Check) bool { return len(c.Network) > 0 })
	if !reaches || r.who.Scope.Covers(api.ScopeAdmin) || weak.On("server.settings") {
		return nil
	}
	return fmt.Errorf("a check that reaches the network needs the scope %q: leave its hosts out: %w", api.ScopeAdmin, pawl.ErrDenied)
}

// orEmpty makes a list that JSON has as [] and not as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (r *asked) withSeq(do func(pawl.Seq) error) error {
	seq, err := r.seq()
	if err != nil {
		return err
	}
	return do(seq)
}

// mayWorkIn refuses a directory that the one who asks has no business in. It returns
// where the directory is: a link may lead elsewhere later, also for other processes.
func (r *asked) mayWorkIn(dir string) (string, error) {
	if r.server.Allow == nil || weak.On("server.roots") {
		return dir, nil
	}
	if err := r.server.Allow(r.who, dir); err != nil || r.server.Far {
		return dir, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("there is no folder %q on the server: %w", dir, pawl.ErrInvalid)
	}
	return real, nil
}

// folderOf is where a new session is to work: in the directory that it names, or in a
// workspace, which is one of its own if it names none.
func (r *asked) folderOf(in *api.NewSession) (string, error) {
	switch {
	case in.Dir != "" && in.Workspace != "":
		return "", fmt.Errorf("name a folder or a workspace, not both: %w", pawl.ErrInvalid)
	case in.Workspace != "" && r.server.Home == nil:
		return "", fmt.Errorf("only a fleet has workspaces by name: name a folder: %w", pawl.ErrInvalid)
	case in.Dir != "" || r.server.Home == nil:
		return r.mayWorkIn(in.Dir)
	case in.ID == "":
		in.ID = pawl.SessionID(ulid.Make().String())
	}
	dir, err := r.server.Home(r.who, cmp.Or(in.Workspace, string(in.ID)))
	if err != nil {
		return "", err
	}
	return r.mayWorkIn(dir)
}

// works are the routes by which a session does something in its directory.
var works = map[string]bool{
	"sendPrompt": true, "rewordPrompt": true, "answer": true, "resumeSession": true, "compactSession": true,
	"previewRevert": true, "revertSession": true, "forkSession": true, "runCommand": true,
}

// mayGoOn refuses work in a session that somebody else has made elsewhere.
func (r *asked) mayGoOn() error {
	if !works[r.route.Name] || r.server.Allow == nil {
		return nil
	}
	s, err := r.service.Get(r.Context(), r.id)
	if err != nil {
		return err
	}
	_, err = r.mayWorkIn(s.Dir)
	return err
}

// mayWorkBy refuses settings by which a request would lift what keeps it within
// bounds: that is for the one who runs the server.
func (r *asked) mayWorkBy(s pawl.Settings) error {
	if r.who.Scope.Covers(api.ScopeAdmin) || weak.On("server.settings") {
		return nil
	}
	if s.Mode == "" && r.server.Mode != nil {
		var err error
		if s.Mode, err = r.server.Mode(); err != nil {
			return err
		}
	}
	if s.Trusted || s.Mode == "yolo" {
		return fmt.Errorf("to trust the folder, or to do without asking, needs the scope %q: name another mode: %w", api.ScopeAdmin, pawl.ErrDenied)
	}
	return nil
}

// owner is the user whose sessions are asked for; nil means any.
func (r *asked) owner() *pawl.User {
	if !r.query.Has("owner") {
		return nil
	}
	return new(pawl.User(r.query.Get("owner")))
}

func (r *asked) filter() (f pawl.Filter, err error) {
	f = pawl.Filter{Query: r.query.Get("query"), Dir: r.query.Get("dir"), Parent: pawl.SessionID(r.query.Get("parent")), Owner: r.owner()}
	if text := r.query.Get("shared"); text != "" {
		if f.Shared, err = strconv.ParseBool(text); err != nil {
			return f, fmt.Errorf("shared is true or false: %w", pawl.ErrInvalid)
		}
	}
	if text := r.query.Get("unfinished"); text != "" {
		if f.Unfinished, err = strconv.ParseBool(text); err != nil {
			return f, fmt.Errorf("unfinished is true or false: %w", pawl.ErrInvalid)
		}
	}
	if text := r.query.Get("missions"); text != "" {
		if f.Missions, err = strconv.ParseBool(text); err != nil {
			return f, fmt.Errorf("missions is true or false: %w", pawl.ErrInvalid)
		}
	}
	if f.Limit, err = r.limit(); err != nil {
		return f, err
	}
	f.Before, err = r.time("before")
	return f, err
}

// limit reads how many are wanted; 0 if that is not said.
func (r *asked) limit() (int, error) {
	text := r.query.Get("limit")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("limit is a number from 1 on: %w", pawl.ErrInvalid)
	}
	return n, nil
}

// getOutput writes an output as it is. It is a stranger's: no program may take it
// for anything but bytes.
func getOutput(w *response, r *asked) (any, error) {
	out, err := r.service.Output(r.Context(), r.id, r.PathValue("blob"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	w.Header().Set("Content-Type", string(api.FormBytes))
	w.Header().Set("Content-Disposition", "attachment")
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, out); err != nil {
		panic(http.ErrAbortHandler) // the status is out already
	}
	return nil, errDone
}

// maxLine bounds an event of an import.
const maxLine = 64 << 20

func importSession(w *response, r *asked) (any, error) {
	within(w, importTime)
	s, err := r.service.Import(r.Context(), r.events())
	if err != nil {
		within(w, r.server.BodyTime) // there may be more of it
	}
	return s, err
}

// events reads those of a body, one a line.
func (r *asked) events() iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		lines := bufio.NewScanner(r.Body)
		lines.Buffer(nil, maxLine)
		open := false
		for lines.Scan() {
			if len(lines.Bytes()) == 0 {
				continue
			}
			e, err := r.event(lines.Bytes())
			switch e.Body.(type) {
			case pawl.TurnStarted:
				open = true
			case pawl.TurnFinished:
				open = false
			default:
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		switch err := lines.Err(); {
		case err != nil:
			yield(pawl.Event{}, bodyFault(err))
		case open && !r.who.Scope.Covers(api.ScopeAdmin) && !weak.On("server.settings"):
			yield(pawl.Event{}, fmt.Errorf("its last turn is open, and may say that calls are permitted: that needs the scope %q: %w", api.ScopeAdmin, pawl.ErrDenied))
		}
	}
}

// event reads one, and refuses what the one who asks could not have brought about
// in another way.
func (r *asked) event(text []byte) (pawl.Event, error) {
	var e pawl.Event
	if err := pawl.Decode(text, &e); err != nil {
		return pawl.Event{}, fmt.Errorf("%w: %w", err, pawl.ErrInvalid)
	}
	switch b := e.Body.(type) {
	case pawl.SessionCreated:
		real, err := r.mayWorkIn(b.Dir)
		if err == nil && real != b.Dir {
			err = fmt.Errorf("the folder %q is %q: say that in session.created: %w", b.Dir, real, pawl.ErrInvalid)
		}
		return e, err
	case pawl.Prompted:
		return e, r.mayWorkBy(b.Settings)
	case pawl.MissionStarted:
		return e, r.mayCheckBy(b.Order.Checks)
	case pawl.CriteriaFrozen:
		return e, r.mayCheckBy(b.Frozen.Checks)
	default:
		return e, nil
	}
}

func exportSession(w *response, r *asked) (any, error) {
	after, err := r.after()
	if err != nil {
		return nil, err
	}
	row, err := r.service.Get(r.Context(), r.id)
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", string(api.FormLines))
	w.WriteHeader(http.StatusOK)
	if after >= row.Head {
		return nil, errDone
	}
	out := bufio.NewWriter(w)
	for e, err := range r.service.Events(r.Context(), r.id, after) {
		if err != nil {
			// The status is out already: a connection that breaks off tells it.
			panic(http.ErrAbortHandler)
		}
		if e.Seq == 0 {
			continue
		}
		if err := writeLine(out, e); err != nil {
			panic(http.ErrAbortHandler)
		}
		if e.Seq >= row.Head {
			break
		}
	}
	if out.Flush() != nil {
		panic(http.ErrAbortHandler)
	}
	return nil, errDone
}

func writeLine(w io.Writer, e pawl.Event) error {
	text, err := e.MarshalJSON()
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}
