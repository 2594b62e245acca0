{{- /* No registry is preset: the image is built from this repository and pushed to one of yours. */}}
{{- define "dynatrace.image" -}}
{{- if .Values.image -}}
{{ .Values.image }}
{{- else if .Values.imageRef.repository -}}
{{ .Values.imageRef.repository }}:{{ .Values.imageRef.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- else if eq (include "dynatrace.platform" .) "azure-marketplace" -}}
{{- with .Values.global.azure.images.operator -}}
{{ .registry }}/{{ .image }}@{{ .digest }}
{{- end -}}
{{- else -}}
dynatrace-operator:v{{ .Chart.AppVersion }}
{{- end -}}
{{- end }}
