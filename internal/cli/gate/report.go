package gate

import (
	"cmp"
	"crypto"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/dsse"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

// formats are the values of --format.
var formats = []string{"text", "json", "markdown", "html", "junit", "sarif", "github", "intoto"}

// report is the result of the gate, to be printed.
type report struct {
	gate.Proof

	criteria pawl.Criteria
	required experiment.Verdict
	signer   crypto.Signer // nil if statements are not signed
}

// signer reads the key of --sign-key. Without the flag it returns nil.
func (f *gateFlags) signer() (crypto.Signer, error) {
	if f.signKey == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.signKey)
	if err != nil {
		return nil, fmt.Errorf("--sign-key: %w", err)
	}
	key, err := dsse.ReadKey(text)
	if err != nil {
		return nil, fmt.Errorf("--sign-key %s: %w", f.signKey, err)
	}
	return key, nil
}

// inWorkflow reports whether pawl runs in a GitHub workflow, whose log shows annotations.
func inWorkflow() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }

// print writes the report to w in the chosen format. With --output it writes the report to the
// file, and the text to w.
func (f *gateFlags) print(w io.Writer, r report) error {
	if f.file == "" {
		return r.write(w, f.format)
	}
	var b strings.Builder
	if err := r.write(&b, f.format); err != nil {
		return err
	}
	if err := cli.ReplaceFile(f.file, []byte(b.String())); err != nil {
		return err
	}
	return r.write(w, "text")
}

func (r report) write(w io.Writer, format string) (err error) {
	var text string
	switch format {
	case "json":
		return cli.WriteJSON(w, gateReport{r.Proof, r.criteria})
	case "sarif":
		return cli.WriteJSON(w, r.SARIF(cmp.Or(app.Version, "dev")))
	case "markdown":
		text = r.Markdown()
	case "html":
		text = r.HTML(r.criteria)
	case "junit":
		var b []byte
		b, err = r.JUnit(r.Meets(r.required))
		text = string(b)
	case "intoto":
		text, err = r.statement()
	default:
		if text = r.Text(); format == "github" || inWorkflow() {
			text += r.Annotations()
			err = r.addSummary()
		}
	}
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// statement returns the in-toto statement, in a signed envelope if there is a key.
func (r report) statement() (string, error) {
	text, err := r.Statement(r.criteria)
	if err == nil && r.signer != nil {
		text, err = dsse.Sign(r.signer, dsse.InToto, text)
	}
	return string(text) + "\n", err
}

// addSummary adds the report to the summary of a GitHub job, if there is one.
func (r report) addSummary() error {
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the variable is there to name it
	if err != nil {
		return fmt.Errorf("write the job summary: %w", err)
	}
	_, err = io.WriteString(f, r.Markdown())
	return errors.Join(err, f.Close())
}

// gateReport is the output of --format json.
type gateReport struct {
	gate.Proof

	Checks pawl.Criteria `json:"checks"`
}
