package config

// Fleet is where the parts of a fleet are. What makes sense is not known here.
type Fleet struct {
	Temporal   string `json:"temporal,omitempty"`   // host:port of the engine
	Namespace  string `json:"namespace,omitempty"`  // of the engine
	NATS       string `json:"nats,omitempty"`       // a URL, or several with commas
	Blobs      string `json:"blobs,omitempty"`      // file:///path or s3://bucket/prefix?endpoint=…
	Workspaces string `json:"workspaces,omitempty"` // the folder of the workspaces, the same on every host
	Gateway    string `json:"gateway,omitempty"`    // where the models are asked by those who have no keys

	Sources []string `json:"sources,omitempty"` // hosts of repositories at private addresses
}
