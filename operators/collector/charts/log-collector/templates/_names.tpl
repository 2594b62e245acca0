{{- /* Every value is quoted or made a number: what a user writes stays a value, whatever is in it. */ -}}
{{- define "log-collector.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}
{{- define "log-collector.labels" -}}
{{ include "log-collector.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end }}
