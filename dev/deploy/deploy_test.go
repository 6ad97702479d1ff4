package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config"
)

const folder = "../../deploy"

// base returns the manifests of the base, combined as kustomize does.
func base(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob(folder + "/k8s/base/*.yaml")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d manifests, %v", len(names), err)
	}
	var parts []string
	for _, name := range names {
		if filepath.Base(name) != "kustomization.yaml" {
			parts = append(parts, read(t, name))
		}
	}
	settings, err := json.Marshal(read(t, folder+"/k8s/base/config.json"))
	if err != nil {
		t.Fatal(err)
	}
	parts = append(parts, "{apiVersion: v1, kind: ConfigMap, metadata: {name: pawl-config}, data: {config.json: "+string(settings)+"}}\n")
	return strings.NewReplacer(
		"metadata: {labels: {app: ", "metadata: {labels: {app.kubernetes.io/part-of: pawl, app: ",
		"image: pawl-fleet\n", "image: pawl-fleet:v1\n",
	).Replace(strings.Join(parts, "\n---\n"))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// look returns the faults of manifests. A parse error is one.
func look(t *testing.T, text string) []string {
	t.Helper()
	c, err := parseCluster([]byte(text))
	if err != nil {
		return []string{err.Error()}
	}
	c.secretsDoc = read(t, folder+"/README.md")
	return c.faults()
}

func TestManifestsFit(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string(nil), look(t, base(t))); diff != "" {
		t.Error(diff)
	}
}

// TestManifestFaults breaks the manifests in one place at a time and expects a fault.
func TestManifestFaults(t *testing.T) {
	t.Parallel()
	good := base(t)
	for name, tt := range map[string]struct{ old, new, want string }{
		"misspelled field":     {"terminationGracePeriodSeconds: 60", "terminationGracePeriod: 60", "not found in type"},
		"unknown kind":         {"kind: ServiceAccount", "kind: Role", "v1 Role is not known"},
		"account":              {"serviceAccountName: pawl\n", "serviceAccountName: paul\n", `no ServiceAccount "paul"`},
		"token":                {"      automountServiceAccountToken: false\n", "", "gets a token for Kubernetes"},
		"root":                 {"runAsNonRoot: true", "runAsNonRoot: false", "may run as root"},
		"config map":           {"configMap: {name: pawl-config}", "configMap: {name: other}", "no ConfigMap for the volume config"},
		"volume not mounted":   {"            - {name: tmp, mountPath: /tmp}\n", "", "nobody mounts the volume tmp"},
		"mount of no volume":   {"        - {name: tmp, emptyDir: {}}\n", "", "mounts tmp, which is not there"},
		"selector":             {"selector: {matchLabels: {app: pawl-api}}\n  strategy", "selector: {matchLabels: {app: pawl}}\n  strategy", "does not select its own pods"},
		"one replica":          {"replicas: 2", "replicas: 1", "no fleet"},
		"budget":               {"metadata: {name: pawl-executor}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: pawl-executor}}}", "metadata: {name: x}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: x}}}", "it has 0 PodDisruptionBudgets"},
		"budget of nothing":    {"spec: {maxUnavailable: 1, selector: {matchLabels: {app: pawl-executor}}}", "spec: {maxUnavailable: 1, selector: {matchLabels: {app: x}}}", "PodDisruptionBudget pawl-executor: it selects nothing"},
		"budget of none":       {"maxUnavailable: 1,", "maxUnavailable: 0,", "no node can be drained"},
		"spread":               {"ScheduleAnyway, labelSelector: {matchLabels: {app: pawl-api}}", "ScheduleAnyway, labelSelector: {matchLabels: {app: x}}", "is not itself"},
		"grace":                {"terminationGracePeriodSeconds: 60", "terminationGracePeriodSeconds: 30", "before it has drained"},
		"service of a set":     {"serviceName: pawl-executor", "serviceName: executor", `no Service "executor"`},
		"no probe":             {"          livenessProbe: {httpGet: {path: /healthz, port: health}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}\n", "", "executor has no liveness probe"},
		"path of a probe":      {"path: /readyz", "path: /healthz", "readiness probe of api asks /healthz, not /readyz"},
		"port of a probe":      {"path: /readyz, port: health", "path: /readyz, port: web", "asks the port web"},
		"name of a probe":      {"--host, pawl-api,", "--host, other,", `asks by the name "pawl-api"`},
		"image":                {"image: pawl-fleet:v1", "image: registry:5000/pawl-fleet", "the image of api has no version"},
		"latest":               {"image: pawl-fleet:v1", "image: pawl-fleet:latest", "the image of api has no version"},
		"request":              {"requests: {cpu: 250m, ", "requests: {", "api requests no cpu"},
		"limit":                {`limits: {cpu: "2", memory: 1Gi,`, `limits: {cpu: "2",`, "api has no limit of memory"},
		"privileges":           {"allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true", "may gain privileges"},
		"capabilities":         {"drop: [ALL]", "drop: [NET_RAW]", "keeps capabilities"},
		"empty variable":       {"value: /etc/pawl/config.json", `value: ""`, "PAWL_CONFIG has no value"},
		"open secret":          {"valueFrom: {secretKeyRef: {name: pawl-server, key: token}}", "value: hunter2", "PAWL_SERVER_TOKEN must come from a Secret"},
		"unknown secret":       {"name: pawl-server, key", "name: pawl-door, key", "how to make the Secret pawl-door"},
		"keys in the executor": {"key: token}}}\n          envFrom: [{secretRef: {name: pawl-blobs}}]\n          ports: [{name: health", "key: token}}}\n          envFrom: [{secretRef: {name: pawl-providers}}]\n          ports: [{name: health", "StatefulSet pawl-executor: only pawl-coordinator may have the keys"},
		"executor reach out":   {"    - to: [{podSelector: {matchLabels: {app: pawl-coordinator}}}]", "    - to: [{ipBlock: {cidr: 0.0.0.0/0}}]", "NetworkPolicy pawl-executor: only pawl-coordinator may reach"},
		"executor reach all":   {"    - to: [{podSelector: {matchLabels: {app: pawl-coordinator}}}]\n      ports", "    - ports", "it lets out to anywhere"},
		"policy of nothing":    {"podSelector: {matchLabels: {app: pawl-api}}", "podSelector: {matchLabels: {app: x}}", "NetworkPolicy pawl-api: it selects nothing"},
		"port of a policy":     {"ingress: [{ports: [{port: http}]}]", "ingress: [{ports: [{port: web}]}]", "has no port web"},
		"port behind a peer":   {"app: pawl-coordinator}}}]\n      ports: [{port: gateway}]", "app: pawl-coordinator}}}]\n      ports: [{port: door}]", "where it leads there is no port door"},
		"peer":                 {"    - from: [{podSelector: {matchLabels: {app: pawl-executor}}}]", "    - from: [{podSelector: {matchLabels: {app: x}}}]", "pods that are not there"},
		"service of nothing":   {"selector: {app: pawl-api}", "selector: {app: x}", "Service pawl-api: it selects nothing"},
		"port of a service":    {"targetPort: gateway", "targetPort: door", "no port door behind it"},
		"gateway":              {"http://pawl-gateway:4748", "http://pawl-gateway:4747", "no service behind the gateway"},
		"no settings":          {"config.json: ", "other.json: ", "no ConfigMap with a config.json"},
	} {
		t.Run(name, func(t *testing.T) { breaks(t, good, tt.old, tt.new, tt.want, look) })
	}
}

// TestSettings parses the configuration as Pawl does: each file has all settings of a
// fleet and no others.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"k8s/base/config.json", "compose/config.json"} {
		var file struct{ Fleet config.Fleet }
		d := json.NewDecoder(strings.NewReader(read(t, folder+"/"+name)))
		d.DisallowUnknownFields()
		if err := d.Decode(&file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, v := 0, reflect.ValueOf(file.Fleet); i < v.NumField(); i++ {
			if v.Field(i).IsZero() {
				t.Errorf("%s has no fleet.%s", name, v.Type().Field(i).Tag.Get("json"))
			}
		}
	}
}

// breaks replaces the first occurrence of old in a valid text and expects a fault.
func breaks(t *testing.T, good, old, new, want string, look func(*testing.T, string) []string) {
	t.Helper()
	if !strings.Contains(good, old) {
		t.Fatalf("there is no %q to break", old)
	}
	faults := look(t, strings.Replace(good, old, new, 1))
	if !strings.Contains(strings.Join(faults, "\n"), want) {
		t.Errorf("no fault has %q: %q", want, faults)
	}
}

func lookCompose(t *testing.T, text string) []string {
	t.Helper()
	root := fstest.MapFS{
		"compose.yaml":        {Data: []byte(text)},
		"compose/env.example": {Data: []byte(read(t, folder+"/compose/env.example"))},
	}
	for _, name := range []string{"config.json", "postgres.sh", "temporal.sh", "namespace.sh"} {
		root["compose/"+name] = &fstest.MapFile{Data: []byte(read(t, folder+"/compose/"+name))}
	}
	faults, err := composeFaults(root)
	if err != nil {
		return []string{err.Error()}
	}
	return faults
}

func TestCompose(t *testing.T) {
	t.Parallel()
	good := read(t, folder+"/compose.yaml")
	if diff := cmp.Diff([]string(nil), lookCompose(t, good)); diff != "" {
		t.Error(diff)
	}
	for name, tt := range map[string]struct{ old, new, want string }{
		"image":            {"image: nats:2.12", "image: nats", "nats: its image has no version"},
		"needs":            {"    nats: {condition: service_started}", "    gnats: {condition: service_started}", "depends on gnats"},
		"file":             {"./compose/temporal.sh:", "./compose/engine.sh:", "the volume ./compose/engine.sh is not there"},
		"volume":           {"\"executor-2:/var", "\"executor-3:/var", "the volume executor-3 is not there"},
		"network":          {"networks: [core]\n\n  minio", "networks: [corps]\n\n  minio", "the network corps is not there"},
		"no network":       {"    networks: [core]\n\n  minio", "\n  minio", "nats: it is on no network"},
		"variable":         {"${MINIO_PASSWORD:?", "${MINIO_SECRET:?", "does not have MINIO_SECRET"},
		"a way out":        {"networks: [core]\n\nx-executor-env", "networks: [core, outside]\n\nx-executor-env", "an executor is on outside"},
		"core is open":     {"core: {internal: true}", "core: {internal: false}", "executor-1: an executor is on core"},
		"keys":             {"PAWL_HOST: executor-1}", "PAWL_HOST: executor-1, OPENAI_API_KEY: x}", "an executor has OPENAI_API_KEY"},
		"name of executor": {"PAWL_HOST: executor-2}", "PAWL_HOST: executor-1}", "executor-2: PAWL_HOST is not its name"},
		"no YAML":          {"services:", "services", "compose.yaml: yaml"},
	} {
		t.Run(name, func(t *testing.T) { breaks(t, good, tt.old, tt.new, tt.want, lookCompose) })
	}
}
