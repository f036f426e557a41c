{{- define "coffer.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The release is not repeated where its name has that of the chart. */}}
{{- define "coffer.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The labels of a pod, which select it: a selector cannot be changed in an upgrade. */}}
{{- define "coffer.labels" -}}
app.kubernetes.io/name: {{ include "coffer.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "coffer.metadata" -}}
metadata:
  name: {{ include "coffer.fullname" . }}
  labels:
    {{- include "coffer.labels" . | nindent 4 }}
{{- end }}
