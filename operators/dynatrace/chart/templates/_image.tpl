{{- define "dynatrace.image" -}}
{{- $platform := include "dynatrace.platform" . -}}
{{- $version := .Chart.AppVersion -}}
{{- if .Values.image -}}
{{ .Values.image }}
{{- else if .Values.imageRef.repository -}}
{{ .Values.imageRef.repository }}:{{ .Values.imageRef.tag | default (printf "v%s" $version) }}
{{- else if eq $platform "openshift" -}}
registry.connect.redhat.com/dynatrace/dynatrace-operator:v{{ $version }}
{{- else if eq $platform "google-marketplace" -}}
gcr.io/dynatrace-marketplace-prod/dynatrace-operator:{{ $version }}
{{- else if eq $platform "azure-marketplace" -}}
{{- with .Values.global.azure.images.operator -}}
{{ .registry }}/{{ .image }}@{{ .digest }}
{{- end -}}
{{- else if hasPrefix "0.0.0-nightly-" $version -}}
quay.io/dynatrace/dynatrace-operator:{{ trimPrefix "0.0.0-" $version }}
{{- else -}}
public.ecr.aws/dynatrace/dynatrace-operator:v{{ $version }}
{{- end -}}
{{- end }}
