package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/transcript"
)

const (
	maxAnswers = 3         // turns in which the model may produce a matching text
	maxSchema  = 256 << 10 // maximum size of a schema, in bytes
	maxFault   = 2000      // characters of an error that are sent to the model
)

// Schema is the JSON Schema that a final text must match.
type Schema struct {
	text  string
	rules *jsonschema.Resolved
}

// ReadSchema reads a JSON Schema. It loads no references.
func ReadSchema(path string) (*Schema, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSchema+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSchema {
		return nil, fmt.Errorf("larger than %s", humanize.IBytes(maxSchema))
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	return NewSchema(&s, string(bytes.TrimSpace(text)))
}

// NewSchema returns a Schema for s. text is s in JSON.
func NewSchema(s *jsonschema.Schema, text string) (*Schema, error) {
	rules, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, fmt.Errorf("unsupported JSON Schema: %w", err)
	}
	return &Schema{text, rules}, nil
}

// Instructions returns the text to append to the prompt, which asks the model for JSON that matches the schema.
func (s *Schema) Instructions() string {
	return "\n\nYour last message must be one JSON value that this JSON Schema accepts, and nothing else: no words around it, no code fence.\n\n" + s.text
}

// check returns the JSON value of a text, or why the text does not match.
func (s *Schema) check(text string) (json.RawMessage, error) {
	text = unfenced(text)
	var v any
	if err := strictjson.Decode([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("it is not a single JSON value: %w", err)
	}
	if err := s.rules.Validate(v); err != nil {
		return nil, fmt.Errorf("it does not match the schema: %w", err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unfenced removes a code fence around a text.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	first, rest, ok := strings.Cut(text, "\n")
	if inner, closed := strings.CutSuffix(rest, "```"); ok && closed && strings.HasPrefix(first, "```") && !strings.Contains(inner, "```") {
		return strings.TrimSpace(inner)
	}
	return text
}

// Follow follows the turn of a prompt. If the final text does not match the schema, it sends the error to the model and
// follows the next turn, for at most maxAnswers turns and within the limits of the prompt. The result covers all turns
// and has the text of the last one. If a turn ends with an error, Follow returns it.
func (s *Schema) Follow(cmd *cobra.Command, a *app.App, session pawl.Session, after pawl.Seq, show Printer, ask *Asker, prompt pawl.Prompt, seq pawl.Seq) (Result, error) {
	began, limits, total := time.Now(), prompt.Settings, newResult(session.ID)
	for try := 1; ; try++ {
		res, end, err := Watch(cmd, a, session, after, show, ask, EndOfTurn(seq))
		if err != nil {
			return total, err
		}
		total.include(res)
		if err := cli.TurnError(end); err != nil {
			return total, err
		}
		output, wrong := s.check(res.Text)
		if wrong == nil {
			total.Output, total.Text = output, unfenced(res.Text)
			return total, nil
		}
		if try == maxAnswers {
			return total, &cli.ExitError{Code: cli.ExitModel, Err: fault.New(pawl.ErrInvalid, "the model's answer is invalid after %s: %w", humanize.Plural(try, "attempt"), wrong).
				Hint("Run `pawl session show %s` to see the answers.", session.ID)}
		}
		prompt.Parts = pawl.Parts{pawl.Text{Text: retryPrompt(wrong)}}
		if prompt.Settings, err = remaining(limits, total, time.Since(began)); err != nil {
			return total, err
		}
		if session, err = a.Get(cmd.Context(), session.ID); err != nil {
			return total, err
		}
		after = session.Head
		if seq, err = a.Send(cmd.Context(), session.ID, prompt); err != nil {
			return total, err
		}
	}
}

// retryPrompt returns the prompt that sends the error of a text to the model.
func retryPrompt(wrong error) string {
	text := []rune(sanitize.Marked(wrong.Error()))
	return fmt.Sprintf("Your last message cannot be used: %s\n\nAnswer again, with one JSON value that the schema accepts and nothing else.", string(text[:min(len(text), maxFault)]))
}

// remaining returns what is left of the limits of a prompt, or an error if one is used up.
func remaining(s pawl.Settings, used Result, took time.Duration) (pawl.Settings, error) {
	spent := &cli.ExitError{Code: cli.ExitLimit, Err: errors.New("limit reached before the model gave an answer that matches the schema")}
	if s.MaxSteps > 0 {
		if s.MaxSteps -= used.Steps; s.MaxSteps <= 0 {
			return s, spent
		}
	}
	if s.MaxCost > 0 {
		if s.MaxCost -= used.Usage.Cost; s.MaxCost <= 0 {
			return s, spent
		}
	}
	if s.MaxTokens > 0 {
		if s.MaxTokens -= used.Usage.Tokens(); s.MaxTokens <= 0 {
			return s, spent
		}
	}
	if s.MaxTime > 0 {
		if s.MaxTime -= took; s.MaxTime <= 0 {
			return s, spent
		}
	}
	return s, nil
}

// include adds the result of another turn.
func (r *Result) include(turn Result) {
	before := *r
	*r = turn
	r.Steps += before.Steps
	r.Usage = before.Usage.Add(turn.Usage)
	r.CostUSD = r.Usage.Cost.Dollars()
	r.Denials = append([]transcript.Denial{}, slices.Concat(before.Denials, turn.Denials)...)
	r.FilesChanged = before.FilesChanged
	for _, path := range turn.FilesChanged {
		if !slices.Contains(r.FilesChanged, path) {
			r.FilesChanged = append(r.FilesChanged, path)
		}
	}
}
