{{- /* What the operator does in the namespaces whose Collectors it watches. */}}
{{- define "collector.namespaceRules" -}}
- apiGroups: [example.com]
  resources: [collectors]
  verbs: [get, list, watch, patch]
- apiGroups: [example.com]
  resources: [collectors/status]
  verbs: [update]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "collector.subjects" -}}
- kind: ServiceAccount
  name: {{ include "collector.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
