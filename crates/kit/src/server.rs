//! A server on this machine that behaves as a test says.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
};

/// A server that runs until the test ends.
pub struct Server {
    /// Its address, without a path.
    pub url: String,
    /// The requests that came, whole, as text.
    pub requests: Receiver<String>,
}

impl Server {
    /// Answers each request on a connection of its own.
    pub fn start(
        answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (sender, answer) = (sender.clone(), answer.clone());
                thread::spawn(move || {
                    let Some(request) = request(&mut stream) else {
                        return;
                    };
                    // The test may be over.
                    let _ = sender.send(request.clone());
                    let _ = answer(&request, &mut stream);
                });
            }
        });
        Self { url, requests }
    }
}

fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes.clone()).ok()?.to_lowercase();
    let length = head
        .lines()
        .find_map(|it| it.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |it| it.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    bytes.extend(body);
    String::from_utf8(bytes).ok()
}

/// Writes a whole response.
pub fn respond(
    stream: &mut TcpStream,
    status: &str,
    headers: &str,
    body: &[u8],
) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    )?;
    stream.write_all(body)
}

/// Waits until the client hangs up.
pub fn hang(stream: &mut TcpStream) -> std::io::Result<()> {
    let _ = stream.read(&mut [0])?;
    Ok(())
}
