package httpapi

import (
	"bufio"
	"cmp"
	"io"
	"iter"
	"net/http"
	"path/filepath"
	"strconv"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// handlers maps route names to handlers.
var handlers = map[string]handlerFunc{
	"createSession": func(w *response, r *request) (any, error) {
		in, err := decode[api.NewSession](w, r)
		if err != nil {
			return nil, err
		}
		dir, err := r.sessionDir(&in)
		if err != nil {
			return nil, err
		}
		return r.service.Create(r.Context(), pawl.NewSession{ID: in.ID, Owner: in.Owner, Dir: dir, Source: in.Source, Title: in.Title, Parent: in.Parent, ParentCall: in.Call})
	},
	"listSessions": func(_ *response, r *request) (any, error) {
		f, err := r.filter()
		if err != nil {
			return nil, err
		}
		page, err := r.service.List(r.Context(), f)
		page.Sessions = orEmpty(page.Sessions)
		return page, err
	},
	"getSession": func(_ *response, r *request) (any, error) { return r.service.Get(r.Context(), r.id) },
	"renameSession": func(w *response, r *request) (any, error) {
		in, err := decode[api.Title](w, r)
		if err != nil {
			return nil, err
		}
		return nil, r.service.Rename(r.Context(), r.id, in.Title)
	},
	"shareSession": func(w *response, r *request) (any, error) {
		in, err := decode[api.Shared](w, r)
		if err != nil {
			return nil, err
		}
		return nil, r.service.Share(r.Context(), r.id, in.With)
	},
	"deleteSession": func(_ *response, r *request) (any, error) { return nil, r.service.Delete(r.Context(), r.id) },
	"importSession": importSession,
	"exportSession": exportSession,
	"streamEvents":  streamEvents,
	"listItems":     listItems,
	"getItem":       getItem,
	"streamItems":   streamItems,
	"streamFeed":    streamFeed,
	"listAsks":      listAsks,
	"getInfo": func(_ *response, r *request) (any, error) {
		p := r.principal
		return api.Info{Version: r.server.Version, User: p.User, Scope: p.Scope, Token: p.Token}, nil
	},
	"getDraft": func(_ *response, r *request) (any, error) { return r.service.Draft(r.Context(), r.id) },
	"sendPrompt": func(w *response, r *request) (any, error) {
		in, err := decode[api.Prompt](w, r)
		if err != nil {
			return nil, err
		}
		p, err := promptOf(in)
		if err != nil {
			return nil, err
		}
		seq, err := r.service.Send(r.Context(), r.id, p)
		return api.Accepted{Seq: seq}, err
	},
	"listPrompts": func(_ *response, r *request) (any, error) {
		waiting, err := r.service.Waiting(r.Context(), r.id)
		list := api.WaitingList{Prompts: []api.Waiting{}}
		for _, w := range waiting {
			list.Prompts = append(list.Prompts, api.Waiting{Seq: w.Seq, Prompt: w.Prompt})
		}
		return list, err
	},
	"rewordPrompt": func(w *response, r *request) (any, error) {
		in, err := decode[api.Parts](w, r)
		if err != nil {
			return nil, err
		}
		return nil, r.withPathSeq(func(seq pawl.Seq) error { return r.service.Reword(r.Context(), r.id, seq, in.Parts) })
	},
	"withdrawPrompt": func(_ *response, r *request) (any, error) {
		return nil, r.withPathSeq(func(seq pawl.Seq) error { return r.service.Withdraw(r.Context(), r.id, seq) })
	},
	"answer": func(w *response, r *request) (any, error) {
		in, err := decode[pawl.Answer](w, r)
		if err != nil {
			return nil, err
		}
		return nil, r.withPathSeq(func(seq pawl.Seq) error { return r.service.Answer(r.Context(), r.id, seq, in) })
	},
	"cancelSession": func(_ *response, r *request) (any, error) { return nil, r.service.Cancel(r.Context(), r.id) },
	"resumeSession": func(_ *response, r *request) (any, error) { return nil, r.service.Resume(r.Context(), r.id) },
	"compactSession": func(w *response, r *request) (any, error) {
		in, err := decode[api.Instructions](w, r)
		if err != nil {
			return nil, err
		}
		seq, err := r.service.Compact(r.Context(), r.id, in.Instructions)
		return api.Accepted{Seq: seq}, err
	},
	"runCommand": func(w *response, r *request) (any, error) {
		in, err := decode[api.Shell](w, r)
		if err != nil {
			return nil, err
		}
		seq, err := r.service.Shell(r.Context(), r.id, in.Command)
		return api.Accepted{Seq: seq}, err
	},
	"previewUndo": func(w *response, r *request) (any, error) {
		in, err := decode[pawl.Undo](w, r)
		if err != nil {
			return nil, err
		}
		return r.service.Preview(r.Context(), r.id, in)
	},
	"undoSession": func(w *response, r *request) (any, error) {
		in, err := decode[pawl.Undo](w, r)
		if err != nil {
			return nil, err
		}
		seq, err := r.service.Undo(r.Context(), r.id, in)
		return api.Accepted{Seq: seq}, err
	},
	"forkSession": func(w *response, r *request) (any, error) {
		in, err := decode[api.Fork](w, r)
		if err != nil {
			return nil, err
		}
		return r.service.Fork(r.Context(), r.id, in.At)
	},
	"getDiff":       getDiff,
	"listDirectory": listDirectory,
	"readFile":      readFile,
	"startMission":  startMission,
	"getMission":    func(_ *response, r *request) (any, error) { return r.service.Mission(r.Context(), r.id) },
	"getUsage": func(_ *response, r *request) (any, error) {
		since, err := r.time("since")
		if err != nil {
			return nil, err
		}
		f := pawl.UsageFilter{Since: since, Session: pawl.SessionID(r.query.Get("session")), Dir: r.query.Get("dir"), Owner: r.owner()}
		rows, err := r.service.Usage(r.Context(), f)
		return api.Usage{Rows: orEmpty(rows)}, err
	},
	"getProject": func(_ *response, r *request) (any, error) {
		dir, err := r.checkDir(r.query.Get("dir"))
		if err != nil {
			return nil, err
		}
		return r.service.Look(r.Context(), dir)
	},
	"trustProject": func(w *response, r *request) (any, error) {
		in, err := decode[api.Trust](w, r)
		if err != nil {
			return nil, err
		}
		dir, err := r.checkDir(in.Dir)
		if err != nil {
			return nil, err
		}
		return nil, r.service.Trust(r.Context(), dir, in.Hash)
	},
	"findFiles": func(_ *response, r *request) (any, error) {
		dir, err := r.checkDir(r.query.Get("dir"))
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
	"expandPrompt": func(w *response, r *request) (any, error) {
		in, err := decode[api.Expand](w, r)
		if err != nil {
			return nil, err
		}
		dir, err := r.checkDir(in.Dir)
		if err != nil {
			return nil, err
		}
		p, err := promptOf(in.Prompt)
		if err != nil {
			return nil, err
		}
		p, notes, err := r.service.Expand(r.Context(), dir, pawl.Prompt{Parts: p.Parts, Delivery: p.Delivery, Settings: p.Settings})
		return api.Expanded{Prompt: api.Prompt{Parts: p.Parts, Delivery: p.Delivery, Settings: p.Settings}, Notes: orEmpty(notes)}, err
	},
	"listModels": func(_ *response, r *request) (any, error) {
		models, err := r.service.Models(r.Context())
		return api.Models{Models: orEmpty(models)}, err
	},
	"createLink":           createLink,
	"createPasskeyOptions": createPasskeyOptions,
	"createPasskey":        createPasskey,
	"listDevices":          listDevices,
	"revokeDevice":         revokeDevice,
	"getOutput":            getOutput,
	"getOpenAPI":           func(*response, *request) (any, error) { return api.OpenAPI() },
}

// promptOf returns a prompt with its comments as text.
func promptOf(in api.Prompt) (pawl.Prompt, error) {
	p := pawl.Prompt{Parts: in.Parts, Delivery: in.Delivery, Settings: in.Settings, Approve: in.Approve, Pause: in.Pause}
	if len(in.Comments) == 0 {
		return p, nil
	}
	text, err := api.CommentText(in.Comments)
	p.Parts = append(p.Parts, text)
	return p, err
}

func startMission(w *response, r *request) (any, error) {
	in, err := decode[pawl.NewMission](w, r)
	if err != nil {
		return nil, err
	}
	if in.Dir, err = r.checkDir(in.Dir); err != nil {
		return nil, err
	}
	return r.service.StartMission(r.Context(), in)
}

// orEmpty returns a list that is encoded as [], not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (r *request) withPathSeq(do func(pawl.Seq) error) error {
	seq, err := r.pathSeq()
	if err != nil {
		return err
	}
	return do(seq)
}

// checkDir rejects a directory that the principal may not use. It returns the resolved
// path, because a symbolic link may be changed later.
func (r *request) checkDir(dir string) (string, error) {
	if r.server.Allow == nil {
		return dir, nil
	}
	if err := r.server.Allow(r.principal, dir); err != nil || r.server.RemoteDirs {
		return dir, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fault.New(pawl.ErrInvalid, "directory %q not found on the server", dir)
	}
	return real, nil
}

// sessionDir returns the directory of a new session: the one that it names, or a
// workspace; without a name, one of its own.
func (r *request) sessionDir(in *api.NewSession) (string, error) {
	switch {
	case in.Dir != "" && in.Workspace != "":
		return "", fault.New(pawl.ErrInvalid, "set dir or workspace, not both")
	case in.Workspace != "" && r.server.WorkspaceDir == nil:
		return "", fault.New(pawl.ErrInvalid, "only a fleet has named workspaces: set dir instead")
	case in.Dir != "" || r.server.WorkspaceDir == nil:
		return r.checkDir(in.Dir)
	case in.ID == "":
		in.ID = pawl.SessionID(ulid.Make().String())
	}
	dir, err := r.server.WorkspaceDir(r.principal, cmp.Or(in.Workspace, string(in.ID)))
	if err != nil {
		return "", err
	}
	return r.checkDir(dir)
}

// worksInDir lists the routes that make a session do something in its directory, or read its files.
var worksInDir = map[string]bool{
	"sendPrompt": true, "rewordPrompt": true, "answer": true, "resumeSession": true, "compactSession": true,
	"previewUndo": true, "undoSession": true, "forkSession": true, "runCommand": true,
	"getMissionPlan": true, "setMissionPlan": true, "approveMission": true, "pauseMission": true, "resumeMission": true,
	"getDiff": true, "listDirectory": true, "readFile": true,
}

// checkSessionDir rejects work in a session whose directory the principal may not use.
func (r *request) checkSessionDir() error {
	if !worksInDir[r.route.Name] || r.server.Allow == nil {
		return nil
	}
	s, err := r.service.Get(r.Context(), r.id)
	if err != nil {
		return err
	}
	_, err = r.checkDir(s.Dir)
	return err
}

// owner returns the user whose sessions are asked for; nil means any.
func (r *request) owner() *pawl.User {
	if !r.query.Has("owner") {
		return nil
	}
	return new(pawl.User(r.query.Get("owner")))
}

func (r *request) filter() (f pawl.Filter, err error) {
	f = pawl.Filter{
		Query: r.query.Get("query"), Search: r.query.Get("search"), Dir: r.query.Get("dir"), State: pawl.State(r.query.Get("state")), Agent: r.query.Get("agent"), Model: r.query.Get("model"),
		Parent: pawl.SessionID(r.query.Get("parent")), Owner: r.owner(), Cursor: r.query.Get("cursor"),
	}
	for name, value := range map[string]*bool{"shared": &f.Shared, "unfinished": &f.Unfinished, "missions": &f.Missions, "asking": &f.Asking} {
		text := r.query.Get(name)
		if text == "" {
			continue
		}
		if *value, err = strconv.ParseBool(text); err != nil {
			return f, fault.New(pawl.ErrInvalid, "%s must be true or false", name)
		}
	}
	if f.Limit, err = r.limit(); err != nil {
		return f, err
	}
	f.Before, err = r.time("before")
	return f, err
}

// limit returns the requested page size; 0 if none exists.
func (r *request) limit() (int, error) {
	text := r.query.Get("limit")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fault.New(pawl.ErrInvalid, "limit must be a positive integer")
	}
	return n, nil
}

// getOutput writes an output as bytes. It is untrusted: no program may interpret it as
// anything else.
func getOutput(w *response, r *request) (any, error) {
	out, err := r.service.Output(r.Context(), r.id, r.PathValue("blob"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	writeDownloadHeader(w, string(api.FormBytes))
	if w.head {
		return nil, errWritten
	}
	if _, err := io.Copy(w, out); err != nil {
		panic(http.ErrAbortHandler) // the status was sent already
	}
	return nil, errWritten
}

// writeDownloadHeader writes the header of a response that browsers save and run nothing of.
func writeDownloadHeader(w *response, contentType string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	w.WriteHeader(http.StatusOK)
}

// maxLine bounds an event of an import, in bytes.
const maxLine = 64 << 20

// importSession imports the conversation of a session. Where it works is up to the request.
func importSession(w *response, r *request) (any, error) {
	in := api.NewSession{ID: pawl.SessionID(r.query.Get("id")), Dir: r.query.Get("dir"), Workspace: r.query.Get("workspace")}
	if in.ID != "" && !in.ID.Valid() {
		return nil, fault.New(pawl.ErrInvalid, "invalid session ID %.40q", in.ID)
	}
	named := in.ID
	dir, err := r.sessionDir(&in)
	if err != nil {
		return nil, err
	}
	setReadTimeout(w, importTimeout)
	s, err := r.service.Import(r.Context(), pawl.NewSession{ID: named, Dir: dir}, r.events())
	if err != nil {
		setReadTimeout(w, r.server.BodyTimeout) // more of the body may follow
	}
	return s, err
}

// events reads the events of a body, one per line.
func (r *request) events() iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		lines := bufio.NewScanner(r.Body)
		lines.Buffer(nil, maxLine)
		for n := 1; lines.Scan(); n++ {
			if len(lines.Bytes()) == 0 {
				continue
			}
			var e pawl.Event
			err := strictjson.Decode(lines.Bytes(), &e)
			if err != nil {
				err = fault.New(pawl.ErrInvalid, "line %d: %w", n, err)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(pawl.Event{}, bodyError(err))
		}
	}
}

func exportSession(w *response, r *request) (any, error) {
	after, err := r.afterSeq()
	if err != nil {
		return nil, err
	}
	row, err := r.service.Get(r.Context(), r.id)
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", string(api.FormLines))
	w.WriteHeader(http.StatusOK)
	if after >= row.Head || w.head {
		return nil, errWritten
	}
	out := bufio.NewWriter(w)
	for e, err := range r.service.Events(r.Context(), r.id, after) {
		if err != nil {
			// The status was sent already: aborting the connection reports the error.
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
	return nil, errWritten
}

func writeLine(w io.Writer, e pawl.Event) error {
	text, err := e.MarshalJSON()
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}
