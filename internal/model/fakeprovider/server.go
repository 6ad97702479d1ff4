// Package fakeprovider is a fake model provider for tests: an HTTP server that implements the protocols of the
// real providers, validates requests as they do, and takes its replies from a script.
// docs/reference/fake-provider.md describes it.
package fakeprovider

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// Limits.
const (
	maxBody     = 64 << 20 // bytes of a request
	maxAttempts = 100_000  // requests whose repetitions are counted; then the count is reset
)

// FaultHeader is a request header with a fault, spelled as in scripts.
const FaultHeader = "Pawl-Fault"

// Config configures the server. The zero value accepts every key and has only the faults of the script.
type Config struct {
	Key   string                             // required from clients; empty means none
	Fault func(n int, r *http.Request) Fault // takes precedence over the header and the script; n counts identical requests, from 1
	Log   func(Record)                       // called once per request, before the response, concurrently
}

// Record describes a request that the server received.
type Record struct {
	Protocol Protocol
	Path     string
	Body     []byte
	Position int // number of replies in its history
	Attempt  int // number of identical requests so far, from 1
	Status   int // of the response; 0 if the connection is dropped before
	Fault    Fault
	Message  string // what was wrong with the request
}

// Protocol is the name of a protocol.
type Protocol string

// The protocols.
const (
	Messages  Protocol = "messages"  // Anthropic
	Chat      Protocol = "chat"      // OpenAI Chat Completions
	Responses Protocol = "responses" // OpenAI
	Gemini    Protocol = "gemini"
)

// dialect implements a protocol. It has no state.
type dialect interface {
	key(r *http.Request) string
	read(r *http.Request, body []byte) (request, error) // validates what is specific to the protocol
	events(req request, a answer) []event
	whole(req request, a answer) string
	failure(f failure) string
	failureEvents(sent int, f failure) []event // an error after a number of events of a stream
}

// request is a parsed request.
type request struct {
	model        string
	stream       bool
	field        string         // field with the messages
	messages     []pawl.Message // Seq is the index in that field, from 0
	prefill      string
	tools        []tool
	includeUsage bool // Chat: send a last chunk with the usage
	encrypted    bool // Responses: reasoning is encrypted
	signed       bool // reasoning must be sent back after a call
}

// Open reads a script whose lines may use this server's faults.
func Open(path string) (*script.Model, error) {
	return script.OpenFor(path, func(k script.Kind) error {
		_, err := ParseFault(string(k))
		return err
	})
}

type server struct {
	Config
	script *script.Model

	mu       sync.Mutex
	attempts map[[sha256.Size]byte]int
}

// Handler serves the script over all protocols. The reply depends only on the number of replies in the
// request's history.
func Handler(m *script.Model, c Config) http.Handler {
	s := &server{Config: c, script: m, attempts: map[[sha256.Size]byte]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.serve(Messages, messages{}))
	mux.HandleFunc("POST /v1/chat/completions", s.serve(Chat, chat{}))
	mux.HandleFunc("POST /v1/responses", s.serve(Responses, responses{}))
	mux.HandleFunc("POST /v1beta/models/{call}", s.serve(Gemini, gemini{}))
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /v1beta/models", s.geminiModels)
	return mux
}

func (s *server) serve(p Protocol, d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		rec := Record{Protocol: p, Path: r.URL.Path, Body: body, Attempt: s.count(r.URL.Path, body)}
		var req request
		var reply script.Reply
		f := failure{status: http.StatusBadRequest}
		switch key := d.key(r); {
		case err != nil:
			f = failure{status: http.StatusRequestEntityTooLarge, message: err.Error()}
		case s.Key != "" && key != s.Key:
			f.status, err = http.StatusUnauthorized, keyError(key)
		default:
			req, reply, rec.Position, err = s.reply(d, r, body)
		}
		if err == nil {
			rec.Fault, err = s.fault(rec.Attempt, r, reply)
		}
		if err != nil {
			f.message = err.Error()
			rec.Fault = Fault{Kind: KindStatus, Status: f.status, Message: f.message}
			rec.Message = f.message
		}
		x := exchange{w: w, r: r, d: d, req: req, delay: reply.Delay}
		x.answer(&rec, reply, s.Log)
	}
}

// reply parses and validates the request, and finds the reply in the script.
func (s *server) reply(d dialect, r *http.Request, body []byte) (request, script.Reply, int, error) {
	req, err := d.read(r, body)
	if err != nil {
		return req, script.Reply{}, 0, err
	}
	req.takePrefill()
	position := req.replies()
	if err := req.check(); err != nil {
		return req, script.Reply{}, position, err
	}
	if err := s.checkReturned(req, position); err != nil {
		return req, script.Reply{}, position, err
	}
	reply, err := s.at(req, position)
	return req, reply, position, err
}

// at returns the script's reply at a position. A model with the name of an agent replies from that agent's
// lines.
func (s *server) at(req request, position int) (script.Reply, error) {
	ask := model.Request{Replies: position, Messages: req.messages}
	if slices.Contains(s.script.Agents(), req.model) {
		ask.ParentCall, ask.Agent = "wire", req.model
	}
	return s.script.Reply(ask)
}

// fault returns the fault of an attempt: the hook's, the header's or the script's.
func (s *server) fault(attempt int, r *http.Request, reply script.Reply) (Fault, error) {
	if s.Fault != nil {
		if f := s.Fault(attempt, r); f.Kind != "" {
			return f, nil
		}
	}
	if name := r.Header.Get(FaultHeader); name != "" {
		return ParseFault(name)
	}
	if reply.Fault == "" || reply.Times > 0 && attempt > reply.Times {
		return Fault{}, nil
	}
	f, err := ParseFault(string(reply.Fault))
	if f.Kind == KindError || f.Kind == KindOverloaded {
		f.Message = reply.Text
	}
	return f, err
}

// count returns the number of identical requests, including this one.
func (s *server) count(path string, body []byte) int {
	key := sha256.Sum256(append([]byte(path+"\n"), body...))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.attempts) >= maxAttempts {
		clear(s.attempts)
	}
	s.attempts[key]++
	return s.attempts[key]
}

func keyError(key string) error {
	if key == "" {
		return errors.New("no API key was given")
	}
	return fmt.Errorf("the API key %.4q… is not the one that this server was started with", key)
}
