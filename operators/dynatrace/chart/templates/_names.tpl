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

{{- define "dynatrace.needsSecurityContextConstraints" -}}
{{- if or (eq (include "dynatrace.platform" .) "openshift") .Values.olm }}true{{ end }}
{{- end }}
