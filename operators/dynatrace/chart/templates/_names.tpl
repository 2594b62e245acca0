{{- define "dynatrace.operator" -}}
dynatrace-operator
{{- end }}

{{- define "dynatrace.webhook" -}}
dynatrace-webhook
{{- end }}

{{- define "dynatrace.platform" -}}
{{- if .Values.platform -}}
{{ .Values.platform }}
{{- else if .Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
openshift
{{- else -}}
kubernetes
{{- end }}
{{- end }}
