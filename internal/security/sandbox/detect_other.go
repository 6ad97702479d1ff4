//go:build !linux && !darwin

package sandbox

import "context"

func detect(context.Context) (Backend, Report) {
	f := Finding{Name: "sandbox", Detail: "there is none for this system", Fix: "run pawl on Linux or macOS, or in a container"}
	return None{Why: f.Detail}, Report{Findings: []Finding{f}}
}
