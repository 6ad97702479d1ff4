package doctor

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// shownFaults is how many faults of each kind of extension are printed.
const shownFaults = 20

// titles maps kinds and checks to their titles, if they differ.
var titles = map[string]string{"mcp": "MCP servers", "lsp": "language servers", "keys": "API keys", "config_dir": "config directory", "policy": "managed policy"}

// faultFindings converts the faults of extensions to findings, up to shownFaults for each kind.
func faultFindings(v *inventory.Inventory) []Finding {
	var findings []Finding
	for _, kind := range inventory.Kinds {
		faults := v.Of(kind).Faults
		for i, fault := range faults {
			f := Finding{Name: kind, Status: Warn, Detail: sanitize.Line(fault.Text)}
			if i == shownFaults {
				f.Detail = fmt.Sprintf("and %d more", len(faults)-i)
				f.Fix = "Run `pawl extensions list " + kind + "` to see all."
				findings = append(findings, f)
				break
			}
			findings = append(findings, f)
		}
	}
	return findings
}
