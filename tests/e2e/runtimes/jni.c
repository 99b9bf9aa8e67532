// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* native.h for Host.java: each method is one call, and the buffer a direct one, as in DiSNI. */
#include <jni.h>
#include <stdint.h>

#include "native.h"

#define METHOD(type, name) JNIEXPORT type JNICALL Java_Host_##name

METHOD(jlong, open)
(JNIEnv *env, jclass host, jstring server, jint port, jint gid_index,
 jstring gid, jobject buffer)
{
	const char *to = (*env)->GetStringUTFChars(env, server, NULL);
	const char *own = (*env)->GetStringUTFChars(env, gid, NULL);
	struct native *n = native_open(
		to, port, gid_index, own,
		(*env)->GetDirectBufferAddress(env, buffer),
		(size_t)(*env)->GetDirectBufferCapacity(env, buffer));

	(void)host;
	(*env)->ReleaseStringUTFChars(env, gid, own);
	(*env)->ReleaseStringUTFChars(env, server, to);
	return (jlong)(intptr_t)n;
}

static struct native *of(jlong handle)
{
	return (struct native *)(intptr_t)handle;
}

METHOD(jint, send)(JNIEnv *env, jclass host, jlong n, jint at, jint bytes)
{
	(void)env, (void)host;
	return native_send(of(n), (size_t)at, (size_t)bytes);
}

METHOD(jint, receive)(JNIEnv *env, jclass host, jlong n, jint at, jint bytes)
{
	(void)env, (void)host;
	return native_receive(of(n), (size_t)at, (size_t)bytes);
}

METHOD(jint, write)
(JNIEnv *env, jclass host, jlong n, jint at, jint remote, jint bytes)
{
	(void)env, (void)host;
	return native_write(of(n), (size_t)at, (size_t)remote, (size_t)bytes);
}

METHOD(jint, read)
(JNIEnv *env, jclass host, jlong n, jint at, jint remote, jint bytes)
{
	(void)env, (void)host;
	return native_read(of(n), (size_t)at, (size_t)remote, (size_t)bytes);
}

METHOD(jint, take)(JNIEnv *env, jclass host, jlong n, jboolean sleeps)
{
	(void)env, (void)host;
	return sleeps ? native_wait(of(n)) : native_take(of(n));
}

METHOD(jint, meet)(JNIEnv *env, jclass host, jlong n)
{
	(void)env, (void)host;
	return native_meet(of(n));
}

METHOD(jint, close)(JNIEnv *env, jclass host, jlong n)
{
	(void)env, (void)host;
	return native_close(of(n));
}
