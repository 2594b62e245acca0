{{- define "dynatrace.commonLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- if not .Values.manifests }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- if eq (include "dynatrace.platform" .) "azure-marketplace" }}
azure-extensions-usage-release-identifier: {{ .Release.Name }}
{{- end }}
{{- end }}

{{- define "dynatrace.webhookLabels" -}}
{{ include "dynatrace.commonLabels" . }}
app.kubernetes.io/component: webhook
{{- end }}

{{- define "dynatrace.webhookSelectorLabels" -}}
internal.dynatrace.com/component: webhook
internal.dynatrace.com/app: webhook
{{- end }}
