{{- define "webapp.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "webapp.selectorLabels" -}}
app.kubernetes.io/name: webapp-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "webapp.labels" -}}
{{ include "webapp.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "webapp.certificateSecret" -}}
{{ .Values.webhook.certificateSecretName | default (printf "%s-certificate" (include "webapp.name" .)) }}
{{- end }}

{{- define "webapp.metricsPort" -}}
{{ .Values.metrics.protected | ternary 8443 8080 }}
{{- end }}

{{- /* Protected metrics have a port of their own; kubelets have no token, so the probes keep theirs. */}}
{{- define "webapp.healthPortName" -}}
{{ .Values.metrics.protected | ternary "health" "metrics" }}
{{- end }}

{{- /* Whether the operator upgrades its CRD: yes with `--reuse-values` of a release without this value, too. */}}
{{- define "webapp.upgradesCrds" -}}
{{- if ne (toString (.Values.crds | default dict).upgrade) "false" }}true{{ end }}
{{- end }}
