package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

type labels map[string]string

// within reports whether others has all of these labels. An empty set matches
// nothing.
func (l labels) within(others labels) bool {
	for name, value := range l {
		if others[name] != value {
			return false
		}
	}
	return len(l) > 0
}

type meta struct {
	Name        string
	Namespace   string
	Labels      labels
	Annotations map[string]string
}

// object is a manifest. Its spec is decoded by its kind. Unknown fields are an error:
// Kubernetes might ignore a misspelled one.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   meta
	Spec       yaml.Node
	Data       map[string]string
	Automount  *bool `yaml:"automountServiceAccountToken"`
}

type selector struct {
	MatchLabels labels `yaml:"matchLabels"`
}

type workload struct {
	Replicas  int
	Selector  selector
	Strategy  map[string]any
	Template  template
	Service   string  `yaml:"serviceName"`
	Pods      string  `yaml:"podManagementPolicy"`
	Claims    []claim `yaml:"volumeClaimTemplates"`
	Retries   int     `yaml:"backoffLimit"`
	Afterward int     `yaml:"ttlSecondsAfterFinished"`
	of        object  // the object that has this spec
}

type claim struct {
	Metadata meta
	Spec     struct {
		AccessModes []string `yaml:"accessModes"`
		Resources   struct{ Requests map[string]string }
		Class       string `yaml:"storageClassName"`
	}
}

type template struct {
	Metadata meta
	Spec     pod
}

type pod struct {
	Account   string `yaml:"serviceAccountName"`
	Automount *bool  `yaml:"automountServiceAccountToken"`
	Links     *bool  `yaml:"enableServiceLinks"`
	HostUsers *bool  `yaml:"hostUsers"`
	Restart   string `yaml:"restartPolicy"`
	Grace     int    `yaml:"terminationGracePeriodSeconds"`
	Spread    []struct {
		MaxSkew  int      `yaml:"maxSkew"`
		Key      string   `yaml:"topologyKey"`
		When     string   `yaml:"whenUnsatisfiable"`
		Selector selector `yaml:"labelSelector"`
	} `yaml:"topologySpreadConstraints"`
	Security struct {
		NonRoot  bool `yaml:"runAsNonRoot"`
		User     int  `yaml:"runAsUser"`
		Group    int  `yaml:"runAsGroup"`
		FSGroup  int  `yaml:"fsGroup"`
		Seccomp  kind `yaml:"seccompProfile"`
		AppArmor kind `yaml:"appArmorProfile"`
	} `yaml:"securityContext"`
	Containers []container
	Volumes    []volume
}

type kind struct{ Type string }

type volume struct {
	Name      string
	ConfigMap *named `yaml:"configMap"`
	EmptyDir  *struct {
		SizeLimit string `yaml:"sizeLimit"`
	} `yaml:"emptyDir"`
}

type named struct{ Name, Key string }

type container struct {
	Name    string
	Image   string
	Command []string
	Args    []string
	Env     []struct {
		Name, Value string
		From        struct {
			Secret *named            `yaml:"secretKeyRef"`
			Field  map[string]string `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	}
	EnvFrom []struct {
		Secret *named `yaml:"secretRef"`
	} `yaml:"envFrom"`
	Ports []struct {
		Name string
		Port int `yaml:"containerPort"`
	}
	Startup   *probe `yaml:"startupProbe"`
	Liveness  *probe `yaml:"livenessProbe"`
	Readiness *probe `yaml:"readinessProbe"`
	Resources struct{ Requests, Limits map[string]string }
	Security  struct {
		Escalation   *bool  `yaml:"allowPrivilegeEscalation"`
		ReadOnly     bool   `yaml:"readOnlyRootFilesystem"`
		ProcMount    string `yaml:"procMount"`
		Capabilities struct{ Drop []string }
	} `yaml:"securityContext"`
	Mounts []struct {
		Name     string
		Path     string `yaml:"mountPath"`
		ReadOnly bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	HTTP struct {
		Path    string
		Port    string
		Headers []struct{ Name, Value string } `yaml:"httpHeaders"`
	} `yaml:"httpGet"`
	Period  int `yaml:"periodSeconds"`
	Timeout int `yaml:"timeoutSeconds"`
	Failure int `yaml:"failureThreshold"`
}

type service struct {
	ClusterIP string `yaml:"clusterIP"`
	Selector  labels
	Ports     []struct {
		Name   string
		Port   int
		Target string `yaml:"targetPort"`
	}
	of object
}

type budget struct {
	Max      int `yaml:"maxUnavailable"`
	Selector selector
	of       object
}

type policy struct {
	Pods    selector `yaml:"podSelector"`
	Types   []string `yaml:"policyTypes"`
	Ingress []rule
	Egress  []rule
	of      object
}

type rule struct {
	From, To []peer
	Ports    []struct{ Port, Protocol string }
}

type peer struct {
	Namespaces *selector `yaml:"namespaceSelector"`
	Pods       *selector `yaml:"podSelector"`
	Block      *struct {
		CIDR   string
		Except []string
	} `yaml:"ipBlock"`
}

// cluster is the set of objects of a build.
type cluster struct {
	workloads  []workload
	services   []service
	budgets    []budget
	policies   []policy
	configs    map[string]map[string]string
	accounts   map[string]bool
	secretsDoc string // documents which secrets to create
}

func parseCluster(text []byte) (*cluster, error) {
	c := &cluster{configs: map[string]map[string]string{}, accounts: map[string]bool{}}
	for docs := strict(text); ; {
		var o object
		switch err := docs.Decode(&o); {
		case errors.Is(err, io.EOF):
			return c, nil
		case err != nil:
			return nil, err
		}
		if err := c.add(o); err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Kind, o.Metadata.Name, err)
		}
	}
}

func strict(text []byte) *yaml.Decoder {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	return d
}

// add adds an object by its kind. An unknown kind is an error, since it would not be
// checked.
func (c *cluster) add(o object) error {
	switch o.APIVersion + " " + o.Kind {
	case "apps/v1 Deployment", "apps/v1 StatefulSet", "batch/v1 Job":
		w := workload{of: o}
		err := o.read(&w)
		c.workloads = append(c.workloads, w)
		return err
	case "v1 Service":
		s := service{of: o}
		err := o.read(&s)
		c.services = append(c.services, s)
		return err
	case "policy/v1 PodDisruptionBudget":
		b := budget{of: o}
		err := o.read(&b)
		c.budgets = append(c.budgets, b)
		return err
	case "networking.k8s.io/v1 NetworkPolicy":
		p := policy{of: o}
		err := o.read(&p)
		c.policies = append(c.policies, p)
		return err
	case "v1 ConfigMap":
		c.configs[o.Metadata.Name] = o.Data
	case "v1 ServiceAccount":
		c.accounts[o.Metadata.Name] = true
	case "v1 Namespace":
	default:
		return fmt.Errorf("%s %s is not known to dev/deploy: teach it", o.APIVersion, o.Kind)
	}
	return nil
}

// read decodes the spec.
func (o object) read(spec any) error {
	text, err := yaml.Marshal(&o.Spec)
	if err != nil {
		return err
	}
	return strict(text).Decode(spec)
}
