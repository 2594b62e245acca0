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

{{- /* Takes a list: the chart's root and the component. */}}
{{- define "dynatrace.labels" -}}
{{ include "dynatrace.commonLabels" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "dynatrace.operatorLabels" -}}
{{ include "dynatrace.labels" (list . "operator") }}
{{- end }}

{{- define "dynatrace.operatorSelectorLabels" -}}
name: {{ .Release.Name }}
{{- end }}

{{- define "dynatrace.webhookLabels" -}}
{{ include "dynatrace.labels" (list . "webhook") }}
{{- end }}

{{- define "dynatrace.webhookSelectorLabels" -}}
internal.dynatrace.com/component: webhook
internal.dynatrace.com/app: webhook
{{- end }}

{{- /* How the operator came into the cluster. */}}
{{- define "dynatrace.installSource" -}}
{{- if .Values.olm -}}
operatorhub
{{- else if .Values.manifests -}}
manifest
{{- else if and .Values.platform (not (has .Values.platform (list "kubernetes" "openshift"))) -}}
{{ .Values.platform }}
{{- else -}}
helm
{{- end -}}
{{- end }}
