//go:build !linux && !darwin

package sandbox

import "context"

func detect(context.Context) (Backend, Report) {
	f := Finding{Name: "sandbox", Detail: "not available on this system", Fix: "run Pawl on Linux or macOS, or in a container"}
	return None{Why: f.Detail}, Report{Findings: []Finding{f}}
}
