{{- /* Pods on OpenShift may only do what a SecurityContextConstraints allows them. OLM installs for either platform. */}}
{{- define "dynatrace.needsSecurityContextConstraints" -}}
{{- if or (eq (include "dynatrace.platform" .) "openshift") .Values.olm }}true{{ end }}
{{- end }}

{{- /* The rule for these constraints, as a list item; takes their names. */}}
{{- define "dynatrace.useSecurityContextConstraints" -}}
- apiGroups: [security.openshift.io]
  resources: [securitycontextconstraints]
  resourceNames: {{ toJson . }}
  verbs: [use]
{{- end }}

{{- /*
A ServiceAccount of the release namespace. Takes root, name, component and, where they matter, annotations and automount.
*/}}
{{- define "dynatrace.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "dynatrace.labels" (list .root .component) | nindent 4 }}
  {{- with .annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if hasKey . "automount" }}
automountServiceAccountToken: {{ .automount }}
{{- end }}
{{- end }}

{{- /* The metadata of a Role or ClusterRole, or of its binding. Takes root, kind, name, component and annotations. */}}
{{- define "dynatrace.rbacMetadata" -}}
metadata:
  name: {{ .name }}
  {{- if hasPrefix "Role" .kind }}
  namespace: {{ .root.Release.Namespace }}
  {{- end }}
  labels: {{- include "dynatrace.labels" (list .root .component) | nindent 4 }}
  {{- with .annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- /*
Binds a role to a ServiceAccount of the release namespace. Takes root, kind (Role or ClusterRole), name, component and,
where they are not called like the binding, role and account; annotations where there are any.
*/}}
{{- define "dynatrace.binding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
{{ include "dynatrace.rbacMetadata" . }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .role | default .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account | default .name }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- /*
On OpenShift: a role whose only rule is the use of constraints, and its binding. Takes what dynatrace.binding takes, and
the constraints.
*/}}
{{- define "dynatrace.constraintsRole" -}}
{{- if include "dynatrace.needsSecurityContextConstraints" .root }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
{{ include "dynatrace.rbacMetadata" . }}
rules:
  {{- include "dynatrace.useSecurityContextConstraints" .constraints | nindent 2 }}
---
{{ include "dynatrace.binding" . }}
{{- end }}
{{- end }}

{{- /* Roles with this label are what ActiveGates may read of the cluster. */}}
{{- define "dynatrace.monitoringLabel" -}}
rbac.dynatrace.com/aggregate-to-monitoring: "true"
{{- end }}

{{- /* The Secrets that are copied into the namespaces of injected pods, as a list of YAML and of CEL. */}}
{{- define "dynatrace.copiedSecrets" -}}
["dynatrace-bootstrapper-config", "dynatrace-bootstrapper-certs", "dynatrace-otlp-exporter-config", "dynatrace-otlp-exporter-certs"]
{{- end }}
